"""Markdown for people: the dialog first, the other branches after it, tool calls folded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.exporters.headings import facts, indented, legible, mark, sum_of
from bough.exporters.types import Exported, described
from bough.model import Block, Media, Node, Text, Thinking, ToolCall, ToolResult


class Markdown:
    extension = "md"

    def write(self, told: Exported) -> Iterator[str]:
        yield f"# {one_line(told.title)}\n\n*{one_line(' · '.join(facts(told)))}*\n"
        for node in told.path:
            yield message(node, told)
        for branch in other_branches(told):
            yield f"\n---\n\n## Another branch, after `{branch[0].parent_id}`\n"
            for node in branch:
                yield message(node, told)


def other_branches(told: Exported) -> Iterator[list[Node]]:
    """What is not on the path, cut where it leaves what was told before."""
    seen = {node.id for node in told.path}
    for leaf in told.leaves:
        branch, at = [], leaf
        while at is not None and at.id not in seen:
            branch.append(at)
            at = told.by_id.get(at.parent_id or "")  # type: ignore[assignment]
        seen.update(node.id for node in branch)
        if branch:
            yield branch[::-1]


def message(node: Node, told: Exported) -> str:
    head = mark(node, told)
    notes = "".join(f" · *{one_line(note)}*" for note in head.notes)
    said = [piece for block in node.message.blocks if (piece := part(block, told))]
    turn = told.closing(node)
    if turn is not None and (total := sum_of(turn)):
        said.append(f"<sub>{one_line(total)}</sub>")
    return "\n" + "\n\n".join([f"### {head.who} · {head.when} · `{node.id}`{notes}", *said]) + "\n"


def part(block: Block, told: Exported) -> str:
    match block:
        case Text(text=text):
            return legible(text)
        case Thinking(text=text):
            return folded("Thinking", legible(text)) if text else ""
        case ToolCall(name=name, arguments=arguments):
            return folded(f"Call of {name}", fenced(indented(arguments), "json"))
        case ToolResult() as result:
            content = "\n".join(piece.text if isinstance(piece, Text) else described(piece) for piece in result.content)
            name = result.name or told.tools.get(result.call_id, result.call_id)
            return folded(f"{'Error' if result.error else 'Result'} of {name}", fenced(content))
        case Media() as media:
            return f"*[{one_line(described(media))}]*"
    return f"*[{one_line(block.type)}]*"


def folded(summary: str, body: str) -> str:
    safe = one_line(summary).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{safe}</summary>\n\n{body}\n\n</details>"


def fenced(text: str, language: str = "") -> str:
    """A block of code, with a fence that is longer than any that the text has."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{legible(text)}\n{fence}"


def one_line(text: str) -> str:
    return " ".join(legible(text).split())


EXPORTER = Markdown()
