"""Transcript of a dialog: messages, tool calls and results, with thinking and long output folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bough.cli.output.console import columns, has_colour, styled
from bough.cli.output.markdown import MarkdownRenderer
from bough.cli.output.text import one_line, sanitize, truncate
from bough.cli.output.times import to_minute
from bough.model import Block, Media, Node, Other, Text, Thinking, ToolCall, ToolResult, TurnInfo
from bough.model.values import value

COLOURS = {"user": "green", "assistant": "cyan", "tool_result": "blue", "system": "yellow"}
FOLDED_LINES = 12
"""Lines of a tool's output that are shown when it is folded."""
FOLDED_WIDTH = 400
"""Cells of each of these lines."""
ARGUMENTS_WIDTH = 200
"""Cells of the arguments of a tool call when they are folded."""


@value
class Folding:
    """Which content is shown in full."""

    thinking: bool = False
    tools: bool = False


def transcript(path: Iterable[Node], turns: Mapping[str, TurnInfo], folding: Folding) -> Iterator[str]:
    """The lines of a dialog. `turns`, by id, give the provenance of its replies."""
    nodes = list(path)
    tools = {call.call_id: call.name for node in nodes for call in node.message.calls}
    for position, node in enumerate(nodes):
        if position:
            yield ""
        turn = turns.get(node.turn_id or "")
        yield _head(node, turn if turn and turn.last_id == node.id else None)
        for block in node.message.blocks:
            yield from block_lines(block, folding, tools)


def _head(node: Node, turn: TurnInfo | None) -> str:
    name = "SUMMARY" if node.kind == "summary" else node.role.replace("_", " ").upper()
    details = [to_minute(node.created_at)]
    if node.label:
        details.append(f"#{one_line(node.label)}")
    if turn:
        details.extend(_provenance(turn))
    failed = styled(" ✗", "red") if node.message.error else ""
    suffix = styled("· " + " · ".join(details), "dim")
    return f"{styled(name, COLOURS[node.role])} {styled(node.id, 'bold')}{failed} {suffix}"


def _provenance(turn: TurnInfo) -> Iterator[str]:
    if turn.status != "complete":
        yield turn.status + (f": {one_line(turn.error)}" if turn.error else "")
    if turn.model:
        yield one_line(turn.model)
    usage = turn.usage
    if usage.input_tokens is not None or usage.output_tokens is not None:
        yield f"{usage.input_tokens or 0:,} → {usage.output_tokens or 0:,} tokens"
    if usage.cost is not None:
        yield f"${usage.cost:.4f}"


def block_lines(block: Block, folding: Folding, tools: Mapping[str, str]) -> Iterator[str]:
    """The lines of one block. `tools` maps the ids of tool calls to tool names."""
    match block:
        case Text():
            yield from text_lines(block.text)
        case Thinking():
            yield from _thinking(block.text, folding.thinking)
        case ToolCall():
            yield styled(f"  → {one_line(block.name)}({_arguments(block.arguments, folding)})", "yellow")
        case ToolResult():
            yield from _result(block, folding, tools)
        case Media():
            yield styled(f"  [{describe_media(block)}]", "dim")
        case Other():
            yield styled(f"  [{one_line(block.type)}]", "dim")


def _arguments(arguments: str, folding: Folding) -> str:
    return sanitize(arguments) if folding.tools else truncate(one_line(arguments), ARGUMENTS_WIDTH)


def text_lines(text: str) -> list[str]:
    """Text, with its Markdown rendered if stdout has colours."""
    if not has_colour():
        return sanitize(text).split("\n")
    renderer = MarkdownRenderer(columns())
    return (renderer.feed(text) + renderer.end()).rstrip("\n").split("\n")


def _thinking(text: str, shown: bool) -> Iterator[str]:
    if not text.strip():
        return
    if shown:
        yield from (styled(f"  ┊ {line}", "dim") for line in sanitize(text).split("\n"))
    else:
        yield styled(f"  ┊ thought for {len(text):,} characters (--thinking shows it)", "dim")


def _result(block: ToolResult, folding: Folding, tools: Mapping[str, str]) -> Iterator[str]:
    sign, colour = ("✗", "red") if block.error else ("✓", "green")
    lines = [line for part in block.content for line in _output(part, folding, tools)]
    kept = lines if folding.tools else [truncate(line, FOLDED_WIDTH) for line in lines[:FOLDED_LINES]]
    yield styled(f"  {sign} {one_line(block.name or tools.get(block.call_id) or block.call_id)}", colour)
    yield from (f"  │ {line}" for line in kept)
    if len(lines) > len(kept):
        yield styled(f"  │ … {len(lines) - len(kept):,} more lines (--tools shows them)", "dim")


def _output(part: Text | Media | Other, folding: Folding, tools: Mapping[str, str]) -> Iterator[str]:
    """Output of a tool: its text verbatim, without Markdown."""
    return iter(sanitize(part.text).split("\n")) if isinstance(part, Text) else block_lines(part, folding, tools)


def describe_media(media: Media) -> str:
    """An image or a document on one line: kind, name, type and size or location."""
    location = f"{len(media.data):,} bytes" if media.data is not None else media.url or media.file_id or ""
    return one_line(f"{media.kind} {media.name or ''} {media.mime}, {location}")
