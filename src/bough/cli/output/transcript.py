"""A dialog to be read: who said what, what was called and what came back; long and silent things folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from bough.cli.output.console import columns, has_colour, styled
from bough.cli.output.markdown import Markdown
from bough.cli.output.text import one_line, sanitize, truncate
from bough.cli.output.times import minute
from bough.model import Block, Media, Node, Other, Text, Thinking, ToolCall, ToolResult, TurnInfo
from bough.model.values import value

COLOURS = {"user": "green", "assistant": "cyan", "tool_result": "blue", "system": "yellow"}
FOLDED_LINES = 12
FOLDED_LINE = 400
CALL = 200


@value
class Folding:
    """What is shown whole."""

    thinking: bool = False
    tools: bool = False


def transcript(path: Iterable[Node], turns: Mapping[str, TurnInfo], folding: Folding) -> Iterator[str]:
    """The lines of a dialog. `turns` say by their ids how the replies came about."""
    nodes = list(path)
    tools = {call.call_id: call.name for node in nodes for call in node.message.calls}
    for place, node in enumerate(nodes):
        if place:
            yield ""
        turn = turns.get(node.turn_id or "")
        yield _head(node, turn if turn and turn.last_id == node.id else None)
        for block in node.message.blocks:
            yield from lines_of(block, folding, tools)


def _head(node: Node, turn: TurnInfo | None) -> str:
    name = "SUMMARY" if node.kind == "summary" else node.role.replace("_", " ").upper()
    facts = [minute(node.created_at)]
    if node.label:
        facts.append(f"#{one_line(node.label)}")
    if turn:
        facts.extend(_provenance(turn))
    failed = styled(" ✗", "red") if node.message.error else ""
    said = styled("· " + " · ".join(facts), "dim")
    return f"{styled(name, COLOURS[node.role])} {styled(node.id, 'bold')}{failed} {said}"


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


def lines_of(block: Block, folding: Folding, tools: Mapping[str, str]) -> Iterator[str]:
    """The lines of one block. `tools` are the names of the tools by the ids of their calls."""
    match block:
        case Text():
            yield from _text(block.text)
        case Thinking():
            yield from _thinking(block.text, folding.thinking)
        case ToolCall():
            arguments = sanitize(block.arguments) if folding.tools else truncate(one_line(block.arguments), CALL)
            yield styled(f"  → {one_line(block.name)}({arguments})", "yellow")
        case ToolResult():
            yield from _result(block, folding, tools)
        case Media():
            yield styled(f"  [{described(block)}]", "dim")
        case Other():
            yield styled(f"  [{one_line(block.type)}]", "dim")


def _text(text: str) -> list[str]:
    """Words; where there are colours, Markdown is drawn instead of shown."""
    if not has_colour():
        return sanitize(text).split("\n")
    drawing = Markdown(columns())
    return (drawing.feed(text) + drawing.end()).rstrip("\n").split("\n")


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
    kept = lines if folding.tools else [truncate(line, FOLDED_LINE) for line in lines[:FOLDED_LINES]]
    yield styled(f"  {sign} {one_line(block.name or tools.get(block.call_id) or block.call_id)}", colour)
    yield from (f"  │ {line}" for line in kept)
    if len(lines) > len(kept):
        yield styled(f"  │ … {len(lines) - len(kept):,} more lines (--tools shows them)", "dim")


def _output(part: Text | Media | Other, folding: Folding, tools: Mapping[str, str]) -> Iterator[str]:
    """What a tool printed is shown as it is."""
    return iter(sanitize(part.text).split("\n")) if isinstance(part, Text) else lines_of(part, folding, tools)


def described(media: Media) -> str:
    """A picture or a document in a few words."""
    where = f"{len(media.data):,} bytes" if media.data is not None else media.url or media.file_id or ""
    return one_line(f"{media.kind} {media.name or ''} {media.mime}, {where}")
