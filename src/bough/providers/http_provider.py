"""Provider with an HTTP API, and its streamed answers."""

from __future__ import annotations

import atexit
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from threading import Event
from time import time_ns
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

from bough import formats
from bough.errors import FormatError, ProviderError
from bough.model import Json, Usage
from bough.model.values import replace
from bough.providers.api import Api, Request
from bough.providers.connection import HttpConnection, Retries, interrupt
from bough.providers.types import Piece, Tool, pieces_of

if TYPE_CHECKING:
    import httpx2

Step: TypeAlias = tuple[dict[str, Json] | None, list[Piece]]
"""An event of a stream, and its pieces; None for a reply that was not streamed."""

_REQUEST_IDS = ("x-request-id", "request-id")
_MALFORMED = (FormatError, TypeError, ValueError, LookupError, AttributeError)
"""Errors that a malformed event or reply raises while it is read."""


class HttpProvider:
    """Provider with an HTTP API."""

    def __init__(
        self, name: str, model: str, api: Api, connection: HttpConnection, options: dict[str, Json], window: int | None
    ) -> None:
        self.name = name
        self.model = model
        self.format = api.format
        self.dialect: str | None = None
        """The dialect of the server, one of `bough.formats.servers`, if it is known."""
        self._api = api
        self._connection = connection
        self._options = options
        self._window = window

    def __repr__(self) -> str:
        return f"HttpProvider({self.name!r}, {self.model!r}, {self.format!r})"

    @property
    def window(self) -> int | None:
        """Context window, as configured or by the price list."""
        from bough.prices import window_of

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
        """Send the request, with retries; the answer is streamed while it is iterated. Raises `ProviderError`."""
        body = self._api.body(Request(self.model, messages, instructions, tools, max_tokens))
        body |= self._options | (options or {})
        return HttpAnswer(self._connection, self._api, {key: one for key, one in body.items() if one is not None})

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()


_open_answers: WeakSet[HttpAnswer] = WeakSet()


@atexit.register
def _close_answers() -> None:
    """Close open answers before the interpreter shuts down; Python 3.13 crashes if that happens later."""
    for answer in list(_open_answers):
        answer.close()


class HttpAnswer:
    """A streamed answer. A connection that is lost before the first piece is retried."""

    def __init__(self, connection: HttpConnection, api: Api, body: dict[str, Json]) -> None:
        self._connection = connection
        self._api = api
        self._body = body
        self._closed = Event()
        self._retries = Retries(self._closed)
        self._stream = formats.get(api.format).accumulator()
        self._complete_reply: dict[str, Json] | None = None
        self._first_token_at: int | None = None
        self._response = self._send()
        self._steps = self._steps_until_closed()
        self._started = False
        _open_answers.add(self)

    def __iter__(self) -> Iterator[Piece]:
        """The pieces as they arrive. Raises `ProviderError` if the stream breaks; `reply()` keeps the received part."""
        for _, pieces in self._steps:
            yield from pieces

    def events(self) -> Iterator[dict[str, Json]]:
        """The provider's own events as they arrive, instead of pieces; none if it does not stream.

        Once there was one, a lost connection is not retried: it would repeat events. Raises `ProviderError`.
        """
        for event, _ in self._steps:
            if event is not None:
                self._started = True
                yield event

    def reply(self) -> dict[str, Json]:
        """The reply so far, in the provider's own format."""
        return self._stream.reply() if self._complete_reply is None else self._complete_reply

    @property
    def request_id(self) -> str | None:
        """The provider's id of this request."""
        return next((self._response.headers[key] for key in _REQUEST_IDS if key in self._response.headers), None)

    @property
    def first_token_at(self) -> int | None:
        """Time of the first piece, in microseconds since 1970."""
        return self._first_token_at

    @property
    def usage(self) -> Usage:
        """Tokens as counted by the provider, and their cost if the price is known."""
        from bough.prices import cost

        reply = self.reply()
        try:
            counted = formats.get(self._api.format).decode(reply).provenance.usage
        except _MALFORMED:
            return Usage()  # the stream ended before any usage
        return replace(counted, cost=cost(reply, self._connection.base_url, self._api.flavor))

    def close(self) -> None:
        """Stop the model and close the connection. A thread that is reading gets the end of the stream."""
        self._closed.set()
        interrupt(self._response)
        with suppress(ValueError):  # another thread is reading, and closes the response itself
            self._steps.close()
            self._response.close()

    def _send(self) -> httpx2.Response:
        return self._connection.post(self._api.path, self._body, self._retries)

    def _steps_until_closed(self) -> Generator[Step, None, None]:
        """The events, with their pieces. Errors after `close()` are ignored, because closing causes them."""
        try:
            yield from self._attempts()
        except ProviderError:
            if not self._closed.is_set():
                raise

    def _attempts(self) -> Iterator[Step]:
        while True:
            try:
                yield from self._read()
                return
            except ProviderError as error:
                self._wait_or_raise(error)
            finally:
                self._response.close()
            self._stream = formats.get(self._api.format).accumulator()
            self._response = self._send()

    def _wait_or_raise(self, error: ProviderError) -> None:
        """Wait for a retry. Raises the error after the first piece, because a retry would repeat it."""
        if self._first_token_at is None and not self._started:
            self._retries.wait(error)
        else:
            if error.kind == "down":
                error.kind = "cut"
            error.args = (f"{error} What came until then is kept.",)
            raise error

    def _read(self) -> Iterator[Step]:
        content_type = self._response.headers.get("content-type", "")
        if "json" in content_type and "ndjson" not in content_type:
            yield None, self._read_unstreamed()
            return
        ended = False
        read = self._connection.lines if "ndjson" in content_type else self._connection.events
        for event in read(self._response):
            if event is None:
                return
            pieces = self._take(event)
            ended = ended or self._api.ends(event)
            if pieces and self._first_token_at is None:
                self._first_token_at = time_ns() // 1000
            yield event, pieces
        if not ended:
            raise ProviderError(f"{self._connection.name} stopped in mid-answer.", kind="down", passing=True)

    def _take(self, event: dict[str, Json]) -> list[Piece]:
        try:
            if (reported := self._api.error(event)) is None:
                self._stream.feed(event)
                return list(self._api.pieces(event))
        except _MALFORMED as error:
            raise self._connection.error(f"sent an event that makes no sense: {error}") from None
        raise self._connection.error("", reported=reported)

    def _read_unstreamed(self) -> list[Piece]:
        """Read a reply of a server that does not stream, or an error with a successful status."""
        reply = self._connection.whole(self._response)
        if (reported := reply.get("error")) is not None:
            raise self._connection.error("", reported=reported)
        try:
            decoded = formats.get(self._api.format).decode(reply)
        except _MALFORMED as error:
            raise self._connection.error(f"sent a reply that makes no sense: {error}") from None
        self._complete_reply, self._first_token_at = reply, time_ns() // 1000
        blocks = [block for message in decoded.messages for block in message.blocks]
        return [piece for place, block in enumerate(blocks) for piece in pieces_of(block, place)]
