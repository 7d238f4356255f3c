"""Slash commands that read: `/history`, `/search`, `/copy`, `/code`, `/export`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bough.cli.output import console
from bough.cli.output.live import aside, unfinished_line
from bough.cli.output.text import sanitize
from bough.errors import Invalid, Refused

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import ChatLoop
    from bough.model import Node


def welcome(loop: ChatLoop) -> None:
    """Write the status, the last exchange of a stored conversation, and a turn that was interrupted after it."""
    aside(f"{loop.status()} · /help")
    if console.on_terminal():
        show(loop.session.path(last=2), loop)
    if left := unfinished_line(loop.session, "/retry"):
        aside(left)


def show(nodes: list[Node], loop: ChatLoop, *, from_end: bool = False) -> None:
    """Write messages like `bough show`."""
    from bough.cli.commands.show import turns_of
    from bough.cli.output.transcript import Folding, transcript

    console.print_lines(transcript(nodes, turns_of(loop.store, nodes), Folding()), from_end=from_end)


def history(loop: ChatLoop, words: str) -> None:
    path = loop.session.path(last=number(words) if words else None)
    show(path, loop, from_end=True) if path else aside("This conversation is empty.")


def search(loop: ChatLoop, words: str) -> None:
    from bough.cli.commands.search import find, hit_lines, note_differences
    from bough.model.search_query import parse_query

    if not words:
        raise Invalid("/search needs words: /search WORDS")
    query = parse_query(words)
    hits = find(loop.store, query, "newest", 10, 0)
    note_differences(hits)
    console.print_lines(hit_lines(hits, query.wanted.split()))
    if not hits:
        aside("Nothing found.")


def export(loop: ChatLoop, words: str) -> None:
    from bough.cli.commands.export import JSONL, conversation_text, format_of, write_output
    from bough.exporters import jsonl

    head = loop.session.head
    if head is None:
        raise Invalid("This conversation is empty; there is nothing to export.")
    file = os.path.expanduser(words) or f"{loop.session.key.replace(':', '-').replace('/', '-')}.md"
    format_ = format_of(file)
    if format_ == JSONL:
        write_output(file, False, jsonl.some(loop.store, [head], False))
    else:
        write_output(file, False, conversation_text(loop.store, head, format_, False, False))


def copy(loop: ChatLoop, words: str) -> None:
    put_on_clipboard(answer_text(loop, words))


def code(loop: ChatLoop, words: str) -> None:
    """Print a code block of the last answer, and copy it where there is a clipboard."""
    from bough.cli.output.code import code_blocks

    blocks = code_blocks(answer_text(loop, ""))
    if not blocks:
        raise Invalid("There is no code in the last answer.")
    place = number(words) if words else 1
    if place > len(blocks):
        raise Invalid(f"There are only {len(blocks)} code blocks in the last answer.")
    print(sanitize(blocks[place - 1]), end="")
    if len(blocks) > 1 and not words:
        aside(f"This is the first of {len(blocks)} code blocks: /code N shows another one.")
    try:
        put_on_clipboard(blocks[place - 1])
    except Refused as error:
        aside(str(error))


def answer_text(loop: ChatLoop, words: str) -> str:
    """The text of the last answer, of the one N answers back, or of a message. Raises `Invalid`."""
    if words and not (words.isdigit() and len(words) < 4):
        return loop.store.get_messages([words])[0].message.text
    back = number(words) if words else 1
    answers = [node for node in loop.session.path() if node.role == "assistant" and node.message.text]
    if back > len(answers):
        raise Invalid("There is no answer here yet." if not answers else f"There are only {len(answers)} answers here.")
    return answers[-back].message.text


def put_on_clipboard(text: str) -> None:
    from bough.cli.output.clipboard import copy

    copy(text)
    aside(f"Copied {len(text):,} characters.")


def number(words: str) -> int:
    """A count of at least 1. Raises `Invalid`."""
    if not words.isdigit() or int(words) == 0:
        raise Invalid(f"{words!r} is not a whole number of at least 1.")
    return int(words)
