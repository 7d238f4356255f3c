"""Markdown: the dialog first, then the other branches, with tool calls folded."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.exporters.headings import displayable, heading_of, overview, pretty_json, turn_usage
from bough.exporters.types import ExportedConversation, describe
from bough.model import Block, Media, Node, Text, Thinking, ToolCall, ToolResult


class MarkdownExporter:
    extension = "md"

    def write(self, conversation: ExportedConversation) -> Iterator[str]:
        yield f"# {one_line(conversation.title)}\n\n*{one_line(' · '.join(overview(conversation)))}*\n"
        for node in conversation.path:
            yield message(node, conversation)
        for branch in other_branches(conversation):
            yield f"\n---\n\n## Another branch, after `{branch[0].parent_id}`\n"
            for node in branch:
                yield message(node, conversation)


def other_branches(conversation: ExportedConversation) -> Iterator[list[Node]]:
    """The branches off the path, each from where it leaves the branches before it."""
    seen = {node.id for node in conversation.path}
    for leaf in conversation.leaves:
        branch, at = [], leaf
        while at is not None and at.id not in seen:
            branch.append(at)
            at = conversation.by_id.get(at.parent_id or "")  # type: ignore[assignment]
        seen.update(node.id for node in branch)
        if branch:
            yield branch[::-1]


def message(node: Node, conversation: ExportedConversation) -> str:
    head = heading_of(node, conversation)
    notes = "".join(f" · *{one_line(note)}*" for note in head.notes)
    body = [piece for block in node.message.blocks if (piece := part(block, conversation))]
    turn = conversation.turn_ending_at(node)
    if turn is not None and (total := turn_usage(turn)):
        body.append(f"<sub>{one_line(total)}</sub>")
    return "\n" + "\n\n".join([f"### {head.speaker} · {head.time} · `{node.id}`{notes}", *body]) + "\n"


def part(block: Block, conversation: ExportedConversation) -> str:
    match block:
        case Text(text=text):
            return displayable(text)
        case Thinking(text=text):
            return folded("Thinking", displayable(text)) if text else ""
        case ToolCall(name=name, arguments=arguments):
            return folded(f"Call of {name}", fenced(pretty_json(arguments), "json"))
        case ToolResult() as result:
            content = "\n".join(piece.text if isinstance(piece, Text) else describe(piece) for piece in result.content)
            name = result.name or conversation.tools.get(result.call_id, result.call_id)
            return folded(f"{'Error' if result.error else 'Result'} of {name}", fenced(content))
        case Media() as media:
            return f"*[{one_line(describe(media))}]*"
    return f"*[{one_line(block.type)}]*"


def folded(summary: str, body: str) -> str:
    safe = one_line(summary).replace("&", "&amp;").replace("<", "&lt;")
    return f"<details><summary>{safe}</summary>\n\n{body}\n\n</details>"


def fenced(text: str, language: str = "") -> str:
    """A fenced code block, with a fence longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{displayable(text)}\n{fence}"


def one_line(text: str) -> str:
    return " ".join(displayable(text).split())


EXPORTER = MarkdownExporter()
