"""State of one call of `encode`: position, tool ids, and losses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bough.errors import FormatError
from bough.formats.media import describe
from bough.formats.payload import parsed
from bough.formats.tool_ids import ToolIds, fit
from bough.formats.types import HARMLESS, Encoded, Loss, LossCode
from bough.model import Block, Json, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

JOINED = "joined"
EMPTY = "(empty)"
"""Text of an empty message, for providers that refuse empty messages."""

_MARKS: dict[str, LossCode] = {
    "signature": "dropped_signature",
    "thoughtSignature": "dropped_signature",
    "citations": "dropped_citations",
    "annotations": "dropped_citations",
    "cache_control": "dropped_cache_marker",
    "cachePoint": "dropped_cache_marker",
    "prompt_cache_breakpoint": "dropped_cache_marker",
}


def own(kept: Json, family: str) -> Json:
    """The part of a `raw` or `envelope` that belongs to this family, or None."""
    return kept.get(family) if isinstance(kept, dict) else None


def emptied(wire: dict[str, Json], *fields: str) -> dict[str, Json]:
    """A wire message with these fields emptied; whether each was a string, a list or an object is kept."""
    return {key: _empty(value) if key in fields else value for key, value in wire.items()}


def _empty(value: Json) -> Json:
    return "" if isinstance(value, str) else [] if isinstance(value, list) else None if value is None else {}


class Encoder:
    """Tracks the position in the dialog, so that a loss can name it."""

    def __init__(self, family: str, ids: ToolIds | None = None) -> None:
        self.family = family
        self.ids = ids or ToolIds()
        self.losses: list[Loss] = []
        self.calls: dict[str, ToolCall] = {}
        """The newest call of each id, for encoding its result."""
        self.calls_in_message = 0
        self._message = 0
        self._block: int | None = None

    def messages(self, messages: Sequence[Message]) -> Iterator[Message]:
        for self._message, message in enumerate(messages):
            self._block, self.calls_in_message = None, 0
            if isinstance(message.envelope, dict):
                self._lose_citations(message.envelope)
            yield message

    def _lose_citations(self, envelope: dict[str, Json]) -> None:
        """Record the loss of citations that another provider puts beside the content."""
        for family, shell in envelope.items():
            if family != self.family and isinstance(shell, dict):
                for mark in ("citations", "annotations"):
                    if shell.get(mark) and family != "reply":
                        self.lose("dropped_citations", f"{mark} of {family}")

    def blocks(self, blocks: Sequence[Block]) -> Iterator[Block]:
        for self._block, block in enumerate(blocks):
            if isinstance(block, ToolCall):
                self.calls[block.call_id] = block
                self.calls_in_message += 1
            yield block
        self._block = None

    def own(self, kept: Json) -> Json:
        return own(kept, self.family)

    def lose(self, code: LossCode, detail: str) -> None:
        self.losses.append(Loss(code, detail, self._message, self._block))

    def lose_marks(self, block: Block) -> None:
        """Record the loss of signatures, citations and cache markers in the `raw` of another provider."""
        if isinstance(block, Thinking) or not isinstance(block.raw, dict):
            return  # dropping reasoning is one loss, its signature included
        for family, item in block.raw.items():
            marks = _fields(item)
            for mark, code in _MARKS.items():
                if marks.get(mark):
                    self.lose(code, f"{mark} of {family}")

    def lose_other(self, kind: str) -> None:
        self.lose("dropped_cache_marker" if kind == "cachePoint" else "dropped_other", f"block of type {kind!r}")

    def describe(self, media: Media, code: LossCode = "media_unsupported") -> str:
        """The text that replaces media which the target cannot take."""
        self.lose(code, f"{media.kind} {media.mime}".strip())
        return describe(media)

    def result_text(self, result: ToolResult, images: bool = False) -> str:
        """Text of a result for a target without an error flag. Media are described, unless encoded apart (`images`)."""
        lines = []
        for part in result.content:
            if isinstance(part, Text):
                lines.append(part.text)
            elif isinstance(part, Other):
                self.lose_other(part.type)
            elif not images:
                lines.append(self.describe(part, "tool_image_flattened"))
        if result.error:
            self.lose("error_flag_prefixed", f"the result of {result.call_id!r}")
            return "Error: " + "\n".join(lines)
        return "\n".join(lines)

    def arguments(self, call: ToolCall) -> dict[str, Json]:
        """A call's arguments, for a target that requires an object."""
        value = parsed(call.arguments)
        if value is None:
            if call.arguments.strip():
                self.lose("arguments_wrapped", f"arguments of {call.name!r}")
                return {"input": call.arguments}
            return {}
        return value

    def tool_name(self, name: str, allowed: str = "a-zA-Z0-9_-", limit: int = 64) -> str:
        fitted = fit(name, allowed, limit)
        if fitted != name:
            self.lose("renamed_tool", f"{name!r} is sent as {fitted!r}")
        return fitted

    def finish(self, payload: Json, strict: bool) -> Encoded:
        if strict:
            refuse(self.family, self.losses)
        return Encoded(payload, tuple(self.losses))


def refuse(family: str, losses: Sequence[Loss]) -> None:
    """Raise `FormatError` if anything was lost."""
    lost = [f"message {loss.message}: {loss.code} ({loss.detail})" for loss in losses if loss.code not in HARMLESS]
    if lost:
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise FormatError(f"{family} cannot express all of this: {'; '.join(lost[:5])}{more}.")


def _fields(item: Json) -> dict[str, Json]:
    """The fields of an item, and the marks of the content parts directly in it."""
    if not isinstance(item, dict):
        return {}
    fields = dict(item)
    content = item.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict):
            fields |= {key: value for key, value in part.items() if key in _MARKS and value}
    return fields
