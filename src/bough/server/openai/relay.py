"""A request that passes to a provider and back in the words of its client, and is recorded."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from bough import formats
from bough.context.fit import fit
from bough.errors import BoughError, ProviderError
from bough.model import Json, Message, Usage
from bough.providers.types import pieces_of
from bough.server.event_log import EventLog
from bough.server.openai.upstream import as_node, options_for
from bough.server.problems import of_error
from bough.server.telemetry import report

if TYPE_CHECKING:
    from bough.providers.types import Answer, Piece, Provider


class Writer(Protocol):
    """Writes a reply in the words of a client."""

    format: str

    def frame(self, event: dict[str, Json]) -> bytes:
        """An event as it is sent."""

    def pass_on(self, event: dict[str, Json]) -> dict[str, Json] | None:
        """An event of a provider with the same API; None for one that the client has not asked for."""

    def begin(self) -> list[dict[str, Json]]:
        """The first events of a stream."""

    def piece(self, piece: Piece) -> list[dict[str, Json]]:
        """The events of a piece."""

    def end(self, reply: dict[str, Json]) -> list[dict[str, Json]]:
        """The last events, after a whole reply in this format."""

    def whole(self, message: Message, usage: Usage, stop: str | None) -> dict[str, Json]:
        """A reply of another provider in this format."""

    def failed(self, error: Exception) -> dict[str, Json]:
        """The event of an error."""

    def shown(self, reply: dict[str, Json], usage: Usage) -> dict[str, Json]:
        """A reply of a provider with the same API, as the client gets it."""

    end_of_stream: bytes


class Relay:
    """Asks a provider in a thread. `log` has the frames of a stream; `finished` has the whole reply."""

    def __init__(
        self, writer: Writer, provider: Provider, ask: Callable[[], Answer],
        keep: Callable[[dict[str, Json], dict[str, Any]], object],
    ) -> None:  # fmt: skip
        self.log = EventLog()
        self.usage = Usage()
        self._loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = self._loop.create_future()
        self.finished: asyncio.Future[dict[str, Json]] = self._loop.create_future()
        for future in (self.accepted, self.finished):
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._writer = writer
        self._provider = provider
        self._ask = ask
        self._keep = keep
        self._answer: Answer | None = None
        self._closed = False
        self._held: dict[str, Json] | None = None
        self._started_at = time.time_ns() // 1000

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._run, name="relay", daemon=True).start()

    def close(self) -> None:
        """Stop the provider: the client is gone."""
        self._closed = True
        if self._answer is not None:
            self._answer.close()

    def _run(self) -> None:
        try:
            self._answer = self._ask()
            self._settle(self.accepted, None)
            reply = self._receive(self._answer)
            if not self._closed:
                self.usage = self._answer.usage
                self._keep(self._answer.reply(), self._details(self._answer))
            self._flush()
            self._settle(self.finished, reply)
            report(provider=self._provider.name, model=self._provider.model, usage=self.usage,
                   started_at=self._started_at)  # fmt: skip
        except Exception as error:
            self._held = None
            self._settle(self.accepted, error)
            self._settle(self.finished, error)
            self._log(self._writer.failed(error))
        finally:
            if self._answer is not None:
                with suppress(Exception):
                    self._answer.close()
            self.log.append(self._writer.end_of_stream)
            self.log.close()

    def _receive(self, answer: Answer) -> dict[str, Json]:
        """Pass the reply on as it comes; the whole reply in the words of the client."""
        writer = self._writer
        if self._provider.format == writer.format and hasattr(answer, "events"):
            for event in answer.events():
                if (passed := writer.pass_on(event)) is not None:
                    self._send(passed)
            reply = answer.reply()
            if self._held is None:  # the provider does not stream
                self._send_all(self._unstreamed(reply))
            return writer.shown(reply, answer.usage)
        self._send_all(writer.begin())
        for piece in answer:
            self._send_all(writer.piece(piece))
        decoded = formats.get(self._provider.format).decode(answer.reply())
        message = decoded.messages[0] if decoded.messages else Message("assistant", ())
        reply = writer.whole(message, answer.usage, decoded.provenance.stop_reason)
        self._send_all(writer.end(reply))
        return reply

    def _unstreamed(self, reply: dict[str, Json]) -> list[dict[str, Json]]:
        """The events of a reply that came whole."""
        pieces: list[Piece] = []
        for message in formats.get(self._writer.format).decode(reply).messages:
            for place, block in enumerate(message.blocks):
                pieces += pieces_of(block, place)
        made = [event for piece in pieces for event in self._writer.piece(piece)]
        return [*self._writer.begin(), *made, *self._writer.end(reply)]

    def _details(self, answer: Answer) -> dict[str, Any]:
        """How the reply came about, for the record."""
        return {"provider": self._provider.name, "model": self._provider.model, "request_id": answer.request_id,
                "started_at": self._started_at, "first_token_at": answer.first_token_at}  # fmt: skip

    def _send_all(self, events: list[dict[str, Json]]) -> None:
        for event in events:
            self._send(event)

    def _send(self, event: dict[str, Json]) -> None:
        """Send an event when the next one comes: the last one only when the reply is stored."""
        self._flush()
        self._held = event

    def _flush(self) -> None:
        if self._held is not None:
            self._log(self._held)
            self._held = None

    def _log(self, event: dict[str, Json]) -> None:
        self.log.append(self._writer.frame(event))

    def _settle(self, future: asyncio.Future[Any], result: Any) -> None:
        def settle() -> None:
            if not future.done():
                future.set_exception(result) if isinstance(result, Exception) else future.set_result(result)

        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(settle)


def asking(
    provider: Provider, format: str, body: dict[str, Json], instructions: str | None, messages: tuple[Message, ...],
    hub: Callable[[dict[str, Json]], dict[str, Json]],
) -> Callable[[], Answer]:  # fmt: skip
    """A function that sends a request: as it came to a provider with the same API, else converted.

    `hub` gives its parameters in the words of Responses. Raises `HttpProblem` and `FormatError`.
    """
    if provider.format == format:
        # What bough adds to its own requests is taken back (None is not sent), but the count of tokens.
        own = dict.fromkeys(("cache_control", "max_tokens", "max_completion_tokens", "system"))
        given = {key: one for key, one in body.items() if key not in ("store", "stream_options")}
        options = {**own, **given, "model": provider.model, "stream": True}
        return lambda: provider.ask(body["messages"], options=options)
    common = hub(body)
    context = fit([as_node(message, place) for place, message in enumerate(messages)], provider.format)
    options = options_for(provider.format, common)
    limit = common.get("max_output_tokens")
    return lambda: provider.ask(context.payload, instructions=instructions, max_tokens=limit, options=options)


def error_text(error: Exception) -> tuple[str, str]:
    """The message and the kind of an error that ends a stream."""
    kind = error.kind if isinstance(error, ProviderError) else "error"
    return of_error(error).detail if not isinstance(error, BoughError) else str(error), kind
