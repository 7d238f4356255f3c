"""`bough compare A B`: the differences of two branches, or of two answers, word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import click

from bough.cli.commands.show import node_json, turns_of
from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import columns, has_colour, print_json, print_lines, styled
from bough.cli.output.text import char_width, one_line, pad, pluralize, sanitize, truncate, width
from bough.cli.refs import message_id
from bough.model import Node
from bough.model.branches import Comparison
from bough.model.differences import Words, differences, words
from bough.store import Store

MIN_COLUMN = 30
"""Cells of a column; on a narrower terminal the two sides follow one another."""


@click.command(
    "compare", epilog=examples("bough compare a1b2c3 d4e5f6", "bough compare cli:garden cli:birches --unified")
)
@click.argument("a", metavar="A", type=MESSAGE_OR_SESSION)
@click.argument("b", metavar="B", type=MESSAGE_OR_SESSION)
@click.option("--unified", is_flag=True, help="One below the other, instead of side by side.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, a: str, b: str, unified: bool, as_json: bool) -> None:
    """Compare the dialogs up to A and up to B, messages or sessions, from where they part."""
    with locator.existing() as store:
        found = store.compare(message_id(store, a), message_id(store, b))
        if as_json:
            print_json(comparison_json(store, found))
            return
    print_lines(comparison_lines(found, unified=unified))


def comparison_json(store: Store, found: Comparison) -> dict[str, Any]:
    sides = {}
    for name, nodes in (("a", found.a), ("b", found.b)):
        turns = turns_of(store, nodes)
        sides[name] = [node_json(node, turns.get(node.turn_id or "")) for node in nodes]
    return {"common": [node.id for node in found.common], **sides}


def comparison_lines(found: Comparison, *, unified: bool = False) -> Iterator[str]:
    """The common part in one line, then the messages of both sides, with their differences marked."""
    a, b = found.a, found.b
    if found.common:
        yield styled(f"{pluralize(len(found.common), 'message')} in common, up to {found.fork_id}", "dim")
    else:
        yield styled("Nothing in common.", "dim")
    if not a and not b:
        yield styled("These are the same.", "dim")
        return
    room = (columns() - 3) // 2
    for one, other in zip_longest(a, b):
        yield ""
        pair = marked(one, other)
        if unified or room < MIN_COLUMN or not has_colour():
            yield from stacked(one, other, pair)
        else:
            yield from side_by_side(one, other, pair, room)


def heading(node: Node | None) -> str:
    return f"{node.role.replace('_', ' ').upper()} {node.id}" if node else ""


def marked(one: Node | None, other: Node | None) -> tuple[Words, Words]:
    """The words of two messages, marked where they differ."""
    texts = [sanitize(text_of(node)) for node in (one, other)]
    if one is None or other is None:
        return [(word, False) for word in words(texts[0])], [(word, False) for word in words(texts[1])]
    return differences(*texts)


def text_of(node: Node | None) -> str:
    """The text of a message; calls and results by their names."""
    if node is None:
        return ""
    calls = [f"→ {one_line(call.name)} {one_line(call.arguments)}" for call in node.message.calls]
    results = [f"← {truncate(one_line(result.text), 200)}" for result in node.message.results]
    return node.message.text or "\n".join(calls + results)


def emphasized(pairs: Sequence[tuple[str, bool]], style: str) -> str:
    """The words as text, with the marked ones in a style; without colours, between marks."""
    before, after = ("", "") if has_colour() else ("[-", "-]") if style == "red" else ("{+", "+}")
    marked = ((word, differs and not word.isspace()) for word, differs in pairs)
    return "".join(f"{before}{styled(word, style)}{after}" if differs else word for word, differs in marked)


def stacked(one: Node | None, other: Node | None, pair: tuple[Words, Words]) -> Iterator[str]:
    """Both messages, one below the other, with - and + before their lines."""
    if one and other and not any(differs for side in pair for _, differs in side):
        yield styled(f"  {heading(one)} = {heading(other)}", "dim")
        return
    for node, pairs, sign, style in ((one, pair[0], "-", "red"), (other, pair[1], "+", "green")):
        if node is not None:
            yield styled(f"{sign} {heading(node)}", "bold")
            yield from (f"{styled(sign, style)} {line}" for line in emphasized(pairs, style).split("\n"))


def side_by_side(one: Node | None, other: Node | None, pair: tuple[Words, Words], room: int) -> Iterator[str]:
    """Both messages in two columns."""
    left = [(pad(heading(one), room), "bold"), *wrapped(pair[0], room, "red")]
    right = [(pad(heading(other), room), "bold"), *wrapped(pair[1], room, "green")]
    for a, b in zip_longest(left, right, fillvalue=(" " * room, "")):
        cells = [styled(text, style) if style else text for text, style in (a, b)]
        yield f"{cells[0]} {styled('│', 'dim')} {cells[1]}".rstrip()


def pieces(word: str, room: int) -> Iterator[str]:
    """A word in pieces of at most `room` cells."""
    piece, used = "", 0
    for character in word:
        cells = char_width(character)
        if used + cells > room:
            yield piece
            piece, used = "", 0
        piece, used = piece + character, used + cells
    yield piece


def wrapped(pairs: Words, room: int, style: str) -> list[tuple[str, str]]:
    """Lines of exactly `room` cells, with the marked words in a style."""
    lines: list[str] = []
    line, used = "", 0

    def flush() -> None:
        nonlocal line, used
        lines.append(line + " " * (room - used))
        line, used = "", 0

    for word, differs in pairs:
        if word == "\n":
            flush()
            continue
        for piece in pieces(word, room) if not word.isspace() else ([" "] if used else []):
            if used + width(piece) > room:
                flush()
                piece = piece.lstrip()
            line += styled(piece, style) if differs and piece.strip() else piece
            used += width(piece)
    if line or not lines:
        flush()
    return [(text, "") for text in lines]
