"""Anthropic's messages and their events, from the pieces of any provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough import formats
from bough.model import Json, Message, Usage
from bough.server.json_text import encoded
from bough.server.openai.relay import error_text

if TYPE_CHECKING:
    from bough.providers.types import Piece

REASONS = {"length": "max_tokens", "max_tokens": "max_tokens", "max_output_tokens": "max_tokens",
           "incomplete": "max_tokens", "content_filter": "refusal", "refusal": "refusal"}  # fmt: skip
"""`stop_reason` by a provider's reason to stop."""
KINDS = {"text": "text", "thinking": "thinking", "call": "tool_use", "arguments": "tool_use"}


class MessageWriter:
    """Writes Anthropic's messages."""

    format = "anthropic"
    end_of_stream = b""

    def __init__(self, id: str, model: str) -> None:
        self._id = id
        self._model = model
        self._blocks = 0
        self._open: tuple[str, int | None] | None = None

    def frame(self, event: dict[str, Json]) -> bytes:
        return b"event: %s\ndata: %s\n\n" % (str(event.get("type")).encode(), encoded(event))

    def pass_on(self, event: dict[str, Json]) -> dict[str, Json] | None:
        return event

    def begin(self) -> list[dict[str, Json]]:
        usage = {"input_tokens": 0, "output_tokens": 0}
        return [{"type": "message_start", "message": self._message([], usage, None)}]

    def piece(self, piece: Piece) -> list[dict[str, Json]]:
        kind, events = KINDS[piece.kind], []
        if piece.kind == "call" or self._open != (kind, piece.place):
            events = [*self._close(), self._start(kind, piece)]
        delta: dict[str, Json]
        match piece.kind:
            case "text":
                delta = {"type": "text_delta", "text": piece.text}
            case "thinking":
                delta = {"type": "thinking_delta", "thinking": piece.text}
            case "arguments":
                delta = {"type": "input_json_delta", "partial_json": piece.text}
            case _:
                return events
        return [*events, {"type": "content_block_delta", "index": self._blocks - 1, "delta": delta}]

    def _start(self, kind: str, piece: Piece) -> dict[str, Json]:
        self._open = kind, piece.place
        self._blocks += 1
        block: dict[str, Json] = {"type": "text", "text": ""}
        if kind == "thinking":
            block = {"type": "thinking", "thinking": "", "signature": ""}
        if kind == "tool_use":
            block = {
                "type": "tool_use",
                "id": piece.call_id or f"toolu_{self._blocks}",
                "name": piece.text,
                "input": {},
            }
        return {"type": "content_block_start", "index": self._blocks - 1, "content_block": block}

    def _close(self) -> list[dict[str, Json]]:
        if self._open is None:
            return []
        self._open = None
        return [{"type": "content_block_stop", "index": self._blocks - 1}]

    def end(self, reply: dict[str, Json]) -> list[dict[str, Json]]:
        delta = {"stop_reason": reply.get("stop_reason"), "stop_sequence": None}
        return [
            *self._close(),
            {"type": "message_delta", "delta": delta, "usage": reply.get("usage")},
            {"type": "message_stop"},
        ]

    def shown(self, reply: dict[str, Json], usage: Usage) -> dict[str, Json]:  # noqa: ARG002
        return reply

    def whole(self, message: Message, usage: Usage, stop: str | None) -> dict[str, Json]:
        encoded = formats.get(self.format).encode([message]).payload if message.blocks else []
        content = encoded[0]["content"] if encoded else []
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        reason = "tool_use" if message.calls else REASONS.get(stop or "", "end_turn")
        cached = usage.cached_tokens or 0
        counts = {"input_tokens": (usage.input_tokens or 0) - cached, "output_tokens": usage.output_tokens or 0,
                  "cache_read_input_tokens": cached}  # fmt: skip
        return self._message(blocks, counts, reason)

    def failed(self, error: Exception) -> dict[str, Json]:
        text, _ = error_text(error)
        return {"type": "error", "error": {"type": "api_error", "message": text}}

    def _message(self, content: Json, usage: Json, reason: str | None) -> dict[str, Json]:
        return {"id": self._id, "type": "message", "role": "assistant", "model": self._model, "content": content,
                "stop_reason": reason, "stop_sequence": None, "usage": usage}  # fmt: skip
