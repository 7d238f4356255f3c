"""Decode one message of opencode, where a part can be a tool call together with its result."""

from __future__ import annotations

from collections.abc import Iterable

from bough.formats.media import kind_of, media_at
from bough.formats.payload import at, count, text_or_none, total, written
from bough.model import Block, Json, Media, Message, Other, Role, Text, Thinking, ToolCall, ToolResult, Usage

FAMILY = "opencode"
Record = dict[str, Json]
LEFT_OUT = {"step-start", "step-finish", "snapshot"}
"""Parts that mark steps and snapshots of files."""
KEPT_IN_BLOCKS = {"input", "output", "error", "attachments"}
"""Fields of a state that the call and the result keep."""
KEPT_ELSEWHERE = {"id", "sessionID", "role", "time", "modelID", "providerID", "parentID"}


def read_messages(info: Record, parts: Iterable[Record]) -> list[Message]:
    """The messages of an opencode message, in order: text and calls, their results, more text."""
    role: Role = info["role"] if info.get("role") in ("assistant", "system") else "user"
    rest = {key: value for key, value in info.items() if key not in KEPT_ELSEWHERE and value not in (None, {}, [])}
    splitter = MessageSplitter(role)
    for part in parts:
        splitter.add(part)
    messages = splitter.finish()
    failed = isinstance(info.get("error"), dict)
    first, *others = messages or [Message(role, (Other("error", {FAMILY: info["error"]}),) if failed else ())]
    return [Message(first.role, first.blocks, first.error or failed, {FAMILY: rest} if rest else None), *others]


class MessageSplitter:
    """Splits parts into messages: tool results come before the text that follows them."""

    def __init__(self, role: Role) -> None:
        self._role = role
        self._messages: list[Message] = []
        self._blocks: list[Block] = []
        self._results: list[ToolResult] = []

    def add(self, part: Record) -> None:
        kind = text_or_none(part.get("type"))
        if kind in LEFT_OUT:
            return
        if kind == "tool":
            self._blocks.append(_call(part))
            self._results += _result(part)
            return
        if self._results:
            self._flush()
        self._blocks.append(_block(part))

    def finish(self) -> list[Message]:
        self._flush()
        return self._messages

    def _flush(self) -> None:
        if self._blocks:
            self._messages.append(Message(self._role, tuple(self._blocks)))
        if self._results:
            failed = any(result.error for result in self._results)
            self._messages.append(Message("tool_result", tuple(self._results), failed))
        self._blocks, self._results = [], []


def _block(part: Record) -> Block:
    raw = {FAMILY: part}
    match part.get("type"):
        case "text" if isinstance(text := part.get("text"), str):
            marked = part.get("synthetic") or part.get("ignored") or part.get("metadata")
            return Text(text, raw=raw if marked else None)
        case "reasoning" if isinstance(text := part.get("text"), str):
            return Thinking(text, raw=raw)
        case "file" if (media := _file(part)) is not None:
            return media
        case "subtask" if isinstance(text := part.get("prompt"), str):
            return Text(text, raw=raw)
        case kind:
            return Other(str(kind), raw)


def _call(part: Record) -> ToolCall:
    arguments = at(part, "state", "input")
    text = written(arguments) if isinstance(arguments, dict) else text_or_none(at(part, "state", "raw")) or "{}"
    state = part.get("state")
    if isinstance(state, dict):
        state = {key: value for key, value in state.items() if key not in KEPT_IN_BLOCKS}
    return ToolCall(_call_id(part), str(part.get("tool")), text, raw={FAMILY: {**part, "state": state}})


def _result(part: Record) -> list[ToolResult]:
    """The result of a tool; none while it is running."""
    state, tool = part.get("state"), text_or_none(part.get("tool"))
    match at(state, "status"):
        case "completed":
            attached = at(state, "attachments")
            media = [_file(one) or Other("file", {FAMILY: one}) for one in _records(attached)]
            failed = tool == "invalid" or bool(at(state, "metadata", "exit"))
            text = text_or_none(at(state, "output")) or ""
            return [ToolResult(_call_id(part), (Text(text), *media), failed, tool)]
        case "error":
            return [ToolResult(_call_id(part), (Text(text_or_none(at(state, "error")) or ""),), True, tool)]
    return []


def _call_id(part: Record) -> str:
    return text_or_none(part.get("callID")) or str(part.get("id"))


def _file(part: Json) -> Media | None:
    url, mime = at(part, "url"), text_or_none(at(part, "mime")) or ""
    name = text_or_none(at(part, "filename"))
    if not isinstance(url, str) or not url:
        return None
    media = media_at(url, {FAMILY: part}, kind_of(mime), name)
    return media if media.mime else Media(kind_of(mime), mime, url=url, name=name, raw={FAMILY: part})


def _records(value: Json) -> list[Record]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def usage(info: Record) -> Usage | None:
    """The tokens of a reply. opencode counts cached tokens apart from the input."""
    read, stored = count(info, "tokens", "cache", "read"), count(info, "tokens", "cache", "write")
    cost = info.get("cost")
    counted = Usage(
        total(count(info, "tokens", "input"), read, stored),
        count(info, "tokens", "output"),
        read,
        count(info, "tokens", "reasoning"),
        float(cost) if isinstance(cost, (int, float)) and cost else None,
    )
    return None if counted == Usage() else counted
