"""A provider that says what it is told to, word by word, and remembers what it was asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bough.errors import ProviderError
from bough.model import Json, Tool, ToolCall, Usage
from bough.model.values import value
from bough.providers.types import Piece


@value
class Line:
    """One reply. `before` is called before every word, with its place: to wait for something, or to raise."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    before: Callable[[int], object] = lambda _: None


class Utterance:
    """A line on its way."""

    request_id: str | None = "request-1"
    usage = Usage(10, 5, cost=0.25)

    def __init__(self, line: Line) -> None:
        self._line = line
        self.first_token_at: int | None = None
        self.closed = False

    def __iter__(self) -> Iterator[Piece]:
        for place, word in enumerate(self._line.text.split(" ") if self._line.text else []):
            self._line.before(place)
            self.first_token_at = self.first_token_at or time.time_ns() // 1000
            yield Piece("text", f" {word}" if place else word)
        for call in self._line.calls:
            yield Piece("call", call.name)

    def reply(self) -> dict[str, Json]:
        calls = [
            {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self._line.calls
        ]
        message: dict[str, Any] = {"role": "assistant", "content": self._line.text or None}
        choice = {"index": 0, "message": message | ({"tool_calls": calls} if calls else {}), "finish_reason": "stop"}
        return {
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "speaker-1", "choices": [choice],
        }  # fmt: skip

    def close(self) -> None:
        self.closed = True


class Speaker:
    """A provider of lines; the last one is said again and again."""

    name = "speaker"
    model = "speaker-1"
    format = "openai.chat"

    def __init__(self, *lines: str | Line | Exception, window: int | None = None) -> None:
        self.lines = [Line(line) if isinstance(line, str) else line for line in lines]
        self.window = window
        self.requests: list[Json] = []
        self.tools: list[tuple[Tool, ...]] = []
        self.utterances: list[Utterance] = []

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> Utterance:
        line = self.lines[min(len(self.requests), len(self.lines) - 1)]
        self.requests.append(messages)
        self.tools.append(tuple(tools))
        if isinstance(line, Exception):
            raise line
        self.utterances.append(Utterance(line))
        return self.utterances[-1]

    def close(self) -> None:
        pass


def down() -> ProviderError:
    return ProviderError("speaker is not there.", kind="down")
