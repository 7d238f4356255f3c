"""Decode one message of Gemini CLI: a reply with its thoughts, its tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator

from bough.errors import FormatError
from bough.formats.gemini.decode import decode_part
from bough.formats.payload import at, count, text_or_none, total, written
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult, Usage

FAMILY = "gemini-cli"
Record = dict[str, Json]
FAILED = ("error", "cancelled")


def read_messages(record: Record) -> list[Message]:
    """The messages of a record: a prompt, a reply with the results of its calls, or a note of the program."""
    kind, content = record.get("type"), tuple(_blocks(record.get("content")))
    if kind == "user":
        # Results are repeated as the user's words; the calls have them already.
        content = tuple(block for block in content if not isinstance(block, ToolResult))
        if not content:
            return []
        envelope = {FAMILY: {"displayContent": record["displayContent"]}} if record.get("displayContent") else None
        return [Message("user", content, envelope=envelope)]
    if kind != "gemini":
        note = {key: value for key, value in record.items() if key not in ("id", "timestamp")}
        return [Message("system", (Other(f"note/{kind}", {FAMILY: note}),))]
    calls = [call for call in record.get("toolCalls") or () if isinstance(call, dict)]
    blocks = (*_thoughts(record.get("thoughts")), *content, *map(_call, calls))
    results = tuple(_result(call) for call in calls if call.get("result") is not None or call.get("status") in FAILED)
    failed = any(result.error for result in results)
    return [Message("assistant", blocks), *([Message("tool_result", results, failed)] if results else [])]


def text_of(content: Json) -> str:
    """The text of a content: a string, a part, or a list of them."""
    if isinstance(content, list):
        return "".join(map(text_of, content))
    return content if isinstance(content, str) else text_or_none(at(content, "text")) or ""


def usage(record: Record) -> Usage | None:
    """The tokens of a reply; those of its thoughts are output."""
    tokens = record.get("tokens")
    thoughts = count(tokens, "thoughts")
    counted = Usage(
        total(count(tokens, "input"), count(tokens, "tool")), total(count(tokens, "output"), thoughts),
        count(tokens, "cached"), thoughts,
    )  # fmt: skip
    return None if counted == Usage() else counted


def _blocks(content: Json) -> Iterator[Block]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            if part:
                yield Text(part)
        elif isinstance(part, dict):
            yield _part(part)


def _part(part: Record) -> Block:
    if part.keys() == {"text"} and isinstance(part["text"], str):
        return Text(part["text"])
    try:
        return decode_part(part, "content")
    except FormatError:
        return Other("part", {FAMILY: part})


def _thoughts(thoughts: Json) -> Iterator[Block]:
    for thought in thoughts if isinstance(thoughts, list) else ():
        texts = (text_or_none(at(thought, key)) for key in ("subject", "description"))
        if text := "\n\n".join(filter(None, texts)):
            yield Thinking(text, raw={FAMILY: thought})


def _call(call: Record) -> ToolCall:
    return ToolCall(str(call.get("id")), str(call.get("name")), written(call.get("args") or {}))


def _result(call: Record) -> ToolResult:
    blocks = tuple(_result_blocks(call.get("result")))
    if not blocks and (shown := text_or_none(call.get("resultDisplay"))):
        blocks = (Text(shown),)
    return ToolResult(str(call.get("id")), blocks, call.get("status") in FAILED, text_or_none(call.get("name")))


def _result_blocks(result: Json) -> Iterator[Text | Media | Other]:
    for part in result if isinstance(result, list) else [result]:
        response = at(part, "functionResponse", "response")
        answer = at(response, "output") if at(response, "output") is not None else at(response, "error")
        if isinstance(answer, str):
            yield Text(answer)
        elif response is not None:
            yield Text(written(response))
        else:
            yield from (block for block in _blocks(part) if isinstance(block, (Text, Media, Other)))
