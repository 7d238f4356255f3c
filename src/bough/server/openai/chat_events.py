"""Chat completions and their chunks, from the pieces of any provider."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from bough import formats
from bough.model import Json, Message, Usage
from bough.server.json_text import encoded
from bough.server.openai.relay import error_text

if TYPE_CHECKING:
    from bough.providers.types import Piece

REASONS = {"max_tokens": "length", "max_output_tokens": "length", "incomplete": "length", "refusal": "content_filter",
           "content_filter": "content_filter", "length": "length"}  # fmt: skip
"""`finish_reason` by a provider's reason to stop."""


class ChatWriter:
    """Writes chat completions."""

    format = "openai.chat"
    end_of_stream = b"data: [DONE]\n\n"

    def __init__(self, id: str, model: str, *, with_usage: bool, renames: bool) -> None:
        self._id = id
        self._model = model
        self._created = int(time.time())
        self._with_usage = with_usage
        self._renames = renames
        self._calls = 0

    def frame(self, event: dict[str, Json]) -> bytes:
        return b"data: %s\n\n" % encoded(event)

    def pass_on(self, event: dict[str, Json]) -> dict[str, Json] | None:
        if not self._with_usage and event.get("usage") is not None and not event.get("choices"):
            return None
        return {**event, "id": self._id} if self._renames else event

    def begin(self) -> list[dict[str, Json]]:
        return [self._chunk({"role": "assistant", "content": ""})]

    def piece(self, piece: Piece) -> list[dict[str, Json]]:
        match piece.kind:
            case "text":
                return [self._chunk({"content": piece.text})]
            case "thinking":
                return [self._chunk({"reasoning_content": piece.text})]
            case "call":
                self._calls += 1
                function = {"name": piece.text, "arguments": ""}
                return [self._call({"id": piece.call_id or f"call_{self._calls}", "type": "function",
                                    "function": function})]  # fmt: skip
        return [self._call({"function": {"arguments": piece.text}})]

    def end(self, reply: dict[str, Json]) -> list[dict[str, Json]]:
        choice = reply["choices"][0] if reply.get("choices") else {}
        last = self._chunk({}, choice.get("finish_reason") or "stop")
        usage = {**self._chunk({}), "choices": [], "usage": reply.get("usage")}
        return [last, usage] if self._with_usage else [last]

    def shown(self, reply: dict[str, Json], usage: Usage) -> dict[str, Json]:
        """A provider's reply as the client gets it."""
        if "choices" in reply:
            return {**reply, "id": self._id} if self._renames else reply
        name = formats.detect(reply)
        decoded = formats.get(name).decode(reply) if name else None
        message = decoded.messages[0] if decoded and decoded.messages else Message("assistant", ())
        return self.whole(message, usage, decoded.provenance.stop_reason if decoded else None)

    def whole(self, message: Message, usage: Usage, stop: str | None) -> dict[str, Json]:
        encoded = formats.get(self.format).encode([message]).payload
        wire = {"role": "assistant", "content": None, "refusal": None, **(encoded[0] if encoded else {})}
        reason = "tool_calls" if message.calls else REASONS.get(stop or "", "stop")
        read, written = usage.input_tokens or 0, usage.output_tokens or 0
        counts: dict[str, Json] = {
            "prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written,
            "prompt_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
        }  # fmt: skip
        return {
            "id": self._id, "object": "chat.completion", "created": self._created, "model": self._model,
            "choices": [{"index": 0, "message": wire, "finish_reason": reason, "logprobs": None}],
            "usage": counts,
        }  # fmt: skip

    def failed(self, error: Exception) -> dict[str, Json]:
        text, kind = error_text(error)
        return {"error": {"message": text, "type": "server_error", "param": None, "code": kind}}

    def _chunk(self, delta: dict[str, Json], reason: str | None = None) -> dict[str, Json]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason, "logprobs": None}
        return {"id": self._id, "object": "chat.completion.chunk", "created": self._created, "model": self._model,
                "choices": [choice]}  # fmt: skip

    def _call(self, call: dict[str, Json]) -> dict[str, Json]:
        return self._chunk({"tool_calls": [{"index": max(0, self._calls - 1), **call}]})
