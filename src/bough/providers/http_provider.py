"""A reply that streams in over HTTP, and the provider that it comes from."""

from __future__ import annotations

import atexit
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from threading import Event
from time import time_ns
from typing import TYPE_CHECKING
from weakref import WeakSet

from bough import formats
from bough.errors import FormatError, ProviderError
from bough.model import Json, Text, Thinking, ToolCall, Usage
from bough.model.values import replace
from bough.providers.api import Api, Request
from bough.providers.connection import HttpConnection, Retries, interrupt
from bough.providers.types import Piece, Tool

if TYPE_CHECKING:
    import httpx2

_REQUEST_IDS = ("x-request-id", "request-id")
_NONSENSE = (FormatError, TypeError, ValueError, LookupError, AttributeError)
"""What an event raises that has the name of one we know, and something else in it."""


class HttpProvider:
    """Someone who answers over HTTP."""

    def __init__(
        self, name: str, model: str, api: Api, connection: HttpConnection, options: dict[str, Json], window: int | None
    ) -> None:
        self.name = name
        self.model = model
        self.format = api.format
        self._api = api
        self._connection = connection
        self._options = options
        self._window = window

    def __repr__(self) -> str:
        return f"HttpProvider({self.name!r}, {self.model!r}, {self.format!r})"

    @property
    def window(self) -> int | None:
        """What was configured, or what the price list says."""
        from bough.providers.prices import window_of

        return self._window or window_of(self.model)

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> HttpAnswer:
        """Sends the request, again if need be; the answer arrives while it is read. Raises `ProviderError`."""
        body = self._api.body(Request(self.model, messages, instructions, tools, max_tokens))
        body |= self._options | (options or {})
        return HttpAnswer(self._connection, self._api, {key: one for key, one in body.items() if one is not None})

    def close(self) -> None:
        """Lets the connections go."""
        self._connection.close()


_arriving: WeakSet[HttpAnswer] = WeakSet()


@atexit.register
def _hang_up() -> None:
    """Ends what nobody has closed while the interpreter is still whole; Python 3.13 crashes when that happens later."""
    for answer in list(_arriving):
        answer.close()


class HttpAnswer:
    """A reply that is arriving. Until its first piece has come, a lost connection is made anew."""

    def __init__(self, connection: HttpConnection, api: Api, body: dict[str, Json]) -> None:
        self._connection = connection
        self._api = api
        self._body = body
        self._closed = Event()
        self._retries = Retries(self._closed)
        self._stream = formats.get(api.format).accumulator()
        self._whole: dict[str, Json] | None = None
        self._first_token_at: int | None = None
        self._response = self._send()
        self._pieces = self._arrive()
        _arriving.add(self)

    def __iter__(self) -> Iterator[Piece]:
        """The pieces as they come. Raises `ProviderError` when the stream breaks; what came stays in `reply()`."""
        return self._pieces

    def reply(self) -> dict[str, Json]:
        """The reply so far, in the provider's own format."""
        return self._stream.reply() if self._whole is None else self._whole

    @property
    def request_id(self) -> str | None:
        """What the provider calls this request."""
        return next((self._response.headers[key] for key in _REQUEST_IDS if key in self._response.headers), None)

    @property
    def first_token_at(self) -> int | None:
        """When the first piece came, in microseconds since 1970."""
        return self._first_token_at

    @property
    def usage(self) -> Usage:
        """Tokens as the provider counted them, and their cost where the price is known."""
        from bough.providers.prices import cost

        reply = self.reply()
        try:
            counted = formats.get(self._api.format).decode(reply).provenance.usage
        except _NONSENSE:
            return Usage()  # nothing came that could be counted
        return replace(counted, cost=cost(reply, self._connection.base_url, self._api.flavor))

    def close(self) -> None:
        """Stops the model and lets the connection go; a thread that is reading finds the end."""
        self._closed.set()
        interrupt(self._response)
        with suppress(ValueError):  # another thread is reading just now; it lets go by itself
            self._pieces.close()
            self._response.close()

    def _send(self) -> httpx2.Response:
        return self._connection.post(self._api.path, self._body, self._retries)

    def _arrive(self) -> Generator[Piece, None, None]:
        """What goes wrong because the answer was closed is nobody's trouble."""
        try:
            yield from self._attempts()
        except ProviderError:
            if not self._closed.is_set():
                raise

    def _attempts(self) -> Iterator[Piece]:
        while True:
            try:
                yield from self._read()
                return
            except ProviderError as error:
                self._give_up_or_wait(error)
            finally:
                self._response.close()
            self._stream = formats.get(self._api.format).accumulator()
            self._response = self._send()

    def _give_up_or_wait(self, error: ProviderError) -> None:
        """Once a piece has been shown, asking again would show it twice."""
        if self._first_token_at is None:
            self._retries.wait(error)
        else:
            if error.kind == "down":
                error.kind = "cut"
            error.args = (f"{error} What came until then is kept.",)
            raise error

    def _read(self) -> Iterator[Piece]:
        if "json" in self._response.headers.get("content-type", ""):
            yield from self._read_whole()
            return
        ended = False
        for event in self._connection.events(self._response):
            if event is None:
                return
            came = self._take(event)
            ended = ended or self._api.ends(event)
            yield from map(self._timed, came)
        if not ended:
            raise ProviderError(f"{self._connection.name} stopped in mid-answer.", kind="down", passing=True)

    def _take(self, event: dict[str, Json]) -> list[Piece]:
        try:
            if (told := self._api.error(event)) is None:
                self._stream.feed(event)
                return list(self._api.pieces(event))
        except _NONSENSE as error:
            raise self._connection.error(f"sent an event that makes no sense: {error}") from None
        raise self._connection.error("", told=told)

    def _read_whole(self) -> Iterator[Piece]:
        """A server that does not stream, or that refuses with a status of success."""
        reply = self._connection.whole(self._response)
        if (told := reply.get("error")) is not None:
            raise self._connection.error("", told=told)
        try:
            decoded = formats.get(self._api.format).decode(reply)
        except _NONSENSE as error:
            raise self._connection.error(f"sent a reply that makes no sense: {error}") from None
        self._whole = reply
        for block in (block for message in decoded.messages for block in message.blocks):
            match block:
                case Text():
                    yield self._timed(Piece("text", block.text))
                case Thinking():
                    yield self._timed(Piece("thinking", block.text))
                case ToolCall():
                    yield self._timed(Piece("call", block.name))

    def _timed(self, piece: Piece) -> Piece:
        if self._first_token_at is None:
            self._first_token_at = time_ns() // 1000
        return piece
