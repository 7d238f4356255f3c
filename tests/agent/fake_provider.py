"""A provider that streams given replies word by word, and records the requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bough.errors import ProviderError
from bough.model import Json, Tool, ToolCall, Usage
from bough.model.values import value
from bough.providers.types import Piece


@value
class FakeReply:
    """One reply. `before` is called before every word, with its index; it may wait or raise."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    before: Callable[[int], object] = lambda _: None


class FakeStream:
    """The stream of one reply."""

    request_id: str | None = "request-1"
    usage = Usage(10, 5, cost=0.25)

    def __init__(self, reply: FakeReply) -> None:
        self._reply = reply
        self.first_token_at: int | None = None
        self.closed = False

    def __iter__(self) -> Iterator[Piece]:
        for place, word in enumerate(self._reply.text.split(" ") if self._reply.text else []):
            self._reply.before(place)
            self.first_token_at = self.first_token_at or time.time_ns() // 1000
            yield Piece("text", f" {word}" if place else word)
        for call in self._reply.calls:
            yield Piece("call", call.name)

    def reply(self) -> dict[str, Json]:
        calls = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self._reply.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": self._reply.text or None}
        choice = {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": "stop"}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "fake-1", "choices": [choice],
        }  # fmt: skip

    def close(self) -> None:
        self.closed = True


class FakeProvider:
    """A provider with a list of replies; the last one is repeated."""

    name = "fake"
    model = "fake-1"
    format = "openai.chat"

    def __init__(self, *replies: str | FakeReply | Exception, window: int | None = None) -> None:
        self.replies = [FakeReply(reply) if isinstance(reply, str) else reply for reply in replies]
        self.window = window
        self.requests: list[Json] = []
        self.tools: list[tuple[Tool, ...]] = []
        self.streams: list[FakeStream] = []

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> FakeStream:
        reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
        self.requests.append(messages)
        self.tools.append(tuple(tools))
        if isinstance(reply, Exception):
            raise reply
        self.streams.append(FakeStream(reply))
        return self.streams[-1]

    def close(self) -> None:
        pass


def down() -> ProviderError:
    return ProviderError("The provider is down.", kind="down")
