"""A response while it is being written: a thread that asks the provider, sends events and stores the reply."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bough import formats
from bough.agent.streaming import PartialReply
from bough.errors import BoughError, FormatError, ProviderError
from bough.model import Json, Message, Usage
from bough.model.values import replace
from bough.server.event_log import EventLog
from bough.server.openai.events import ResponseEvents, frame
from bough.server.openai.ids import mint, prefix_of
from bough.server.openai.items import REPLY, message_items
from bough.server.openai.resource import EVENTS, INCOMPLETE, RECORD, error_of, resource, usage_of
from bough.server.problems import HttpProblem
from bough.server.telemetry import report

if TYPE_CHECKING:
    from bough.providers.types import Answer, Piece, Provider
    from bough.server.openai.parameters import ResponseRequest
    from bough.turn import Turn

ERROR_CODES = {"rate_limit": "rate_limit_exceeded", "context_too_long": "context_length_exceeded",
               "key": "invalid_api_key", "not_found": "model_not_found"}  # fmt: skip
"""Codes of the error of a failed response, by the kind of a provider's error."""


class Generation:
    """Writes one response. `start` begins it; `log` has its events, and `finished` its response object."""

    def __init__(
        self, request: ResponseRequest, record: dict[str, Any], provider: Provider, turn: Turn | None,
        ask: Callable[[], Answer],
    ) -> None:  # fmt: skip
        self.id: str = record["id"]
        self.request = request
        self.turn = turn
        self.log = EventLog()
        self.on_piece: Callable[[Piece], object] = lambda _: None
        """Called in the thread with each piece of a response that is stored."""
        self.usage = Usage()
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = loop.create_future()
        """Done when the provider has accepted the request; otherwise it has the error."""
        self.finished: asyncio.Future[dict[str, Json]] = loop.create_future()
        for future in (self.accepted, self.finished):
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._loop = loop
        self._record = record
        self._provider = provider
        self._ask = ask
        self._answer: Answer | None = None
        self._partial = None if turn is None else PartialReply(turn)
        self._events = ResponseEvents(self.id, self._send)
        self._sent: list[dict[str, Json]] = []
        self._ending: str | None = None
        self._started_at = time.time_ns() // 1000

    def start(self) -> None:
        """Begin to write, in a thread."""
        threading.Thread(target=self._run, name=self.id, daemon=True).start()

    def resource(self, status: str) -> dict[str, Json]:
        """The response object as long as there is no output."""
        return resource(self._record, status)

    def end(self, how: str) -> None:
        """Stop the provider: the response is `cancelled` by its user, or `interrupted`. Safe from any thread."""
        self._ending = self._ending or how
        if self._answer is not None:
            self._answer.close()

    def keep_alive(self) -> None:
        """Renew the lease of the turn, for a provider that thinks for long."""
        if self.turn is not None and self.turn.status == "running":
            with suppress(BoughError):
                self.turn.add([])

    # In the thread --------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._events.emit("response.created", response=self.resource("in_progress"))
            self._events.emit("response.in_progress", response=self.resource("in_progress"))
            self._answer = self._ask()
            self._settle(self.accepted, None)
            if self._ending is None:
                self._receive(self._answer)
            made = self._end_early(self._ending) if self._ending else self._complete(self._answer)
        except Exception as error:
            made = self._end_early(self._ending) if self._ending else self._fail(error)
        finally:
            if self._answer is not None:
                with suppress(Exception):
                    self._answer.close()
        self._settle(self.accepted, None)
        self._settle(self.finished, made)
        self.log.close()
        report(
            provider=self._provider.name, model=self._provider.model, usage=self.usage, started_at=self._started_at,
            error=made["error"] and made["error"]["code"],
            **{"gen_ai.response.id": self.id, "gen_ai.request.previous_response.id": self.request.previous,
               "gen_ai.conversation.id": None if self.turn is None else self.turn.session.key},
        )  # fmt: skip

    def _settle(self, future: asyncio.Future[Any], result: Any) -> None:
        def settle() -> None:
            if not future.done():
                future.set_exception(result) if isinstance(result, Exception) else future.set_result(result)

        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(settle)

    def _send(self, event: dict[str, Json]) -> None:
        if self.request.background and self.request.streams:
            self._sent.append(event)
        self.log.append(frame(event))

    def _receive(self, answer: Answer) -> None:
        """Read the answer to its end, or until somebody ends it."""
        if self._provider.format == "openai.responses" and hasattr(answer, "events"):
            for event in answer.events():
                self._events.forward(event)
                self._keep(event)
                if self._ending:
                    return
            return
        for piece in answer:
            self._events.piece(piece)
            self._add(piece)
            if self._ending:
                return

    def _keep(self, event: dict[str, Json]) -> None:
        from bough.providers.openai import ResponsesApi

        for piece in ResponsesApi().pieces(event):
            self._add(piece)

    def _add(self, piece: Piece) -> None:
        """Keep a piece, if the response is stored, and tell who follows the store."""
        if self._partial is not None:
            self._partial.add(piece)
            self.on_piece(piece)

    def _complete(self, answer: Answer) -> dict[str, Json]:
        """Store the reply, and send the last event."""
        reply = answer.reply()
        decoded = formats.get(self._provider.format).decode(reply)
        message = decoded.messages[0] if decoded.messages else Message("assistant", ())
        message = self._with_items(message, reply)
        self.usage = answer.usage
        self._record |= {
            "completed_at": time.time_ns() // 1_000_000_000,
            "usage": _usage(reply, self._provider.format) or usage_of(self.usage),
            "incomplete": INCOMPLETE.get(decoded.provenance.stop_reason or ""),
            "upstream": decoded.provenance.response_id,
            "outputs": 1,
        }
        envelope = message.envelope if isinstance(message.envelope, dict) else {}
        message = replace(message, envelope={**envelope, "reply": decoded.provenance.envelope})
        made = resource(self._record, "completed", message_items(message, self.id, self.request.include))
        last = self._events.event(f"response.{made['status']}", response=made)
        self._store(message, answer, decoded.provenance.model, last)
        self._events.send(last)  # only now: what is acknowledged is stored
        return made

    def _with_items(self, message: Message, reply: dict[str, Json]) -> Message:
        if self._provider.format != "openai.responses":
            return self._events.finish(message)
        items = [_with_id(item) for item in reply.get("output") or ()]
        if not self._was_streamed():
            self._events.whole(items)
        (made,) = formats.get("openai.responses").decode({"output": items}).messages or (message,)
        return replace(made, envelope=REPLY)

    def _was_streamed(self) -> bool:
        return len(self.log.frames) > 2

    def _metadata(self, last: dict[str, Json]) -> dict[str, Json]:
        """What the turn keeps of the response, with its events if they can be asked for again."""
        keeps = self.request.background and self.request.streams
        return {RECORD: self._record, **({EVENTS: packed([*self._sent, last])} if keeps else {})}

    def _store(self, message: Message, answer: Answer, model: str | None, last: dict[str, Json]) -> None:
        turn = self.turn
        if turn is None:
            return
        turn.add(
            [message], model=model or self._provider.model, provider=self._provider.name, usage=self.usage,
            request_id=answer.request_id, started_at=self._started_at, first_token_at=answer.first_token_at,
            metadata=self._metadata(last),
        )  # fmt: skip
        turn.complete()

    def _fail(self, error: Exception) -> dict[str, Json]:
        """End a response that its provider, or a bug, has broken."""
        told = error if isinstance(error, (BoughError, HttpProblem)) else None
        text = str(error) if told is not None else f"This is a bug in bough ({type(error).__name__})."
        code = ERROR_CODES.get(error.kind, "server_error") if isinstance(error, ProviderError) else "server_error"
        self._record["error"] = error_of(text, code)
        made = self._put_aside("failed", lambda turn: turn.fail(text))
        if told is None:
            from bough.server.observe import log

            log.error('{"response":"%s","error":"%s"}', self.id, type(error).__name__, exc_info=error)
        if not self.request.background:
            self._settle(self.accepted, error)
        return made

    def _end_early(self, how: str) -> dict[str, Json]:
        """End a response that its user cancelled, or whose client or server goes away."""
        if how == "cancelled":
            return self._put_aside("cancelled", lambda turn: turn.stop("The response was cancelled."))
        self._record["error"] = error_of("The response was cut off: its client or its server went away.")
        return self._put_aside("failed", lambda turn: turn.interrupt("The client or the server went away."))

    def _put_aside(self, status: str, end: Callable[[Turn], None]) -> dict[str, Json]:
        """Store what has come of the reply and the events, end the turn, and send the last event."""
        made, turn = self.resource(status), self.turn
        last = self._events.event(f"response.{status}", response=made)
        if turn is not None and self._partial is not None and turn.status == "running":
            with suppress(BoughError):  # the turn was ended, deleted or taken over in the meantime
                turn.add([], metadata=self._metadata(last))
                self._partial.save()
            with suppress(BoughError):
                end(turn)
        self._events.send(last)
        return made


def packed(events: list[dict[str, Json]]) -> str:
    """Events as a text in the metadata of a turn."""
    text = "\n".join(json.dumps(event, separators=(",", ":")) for event in events)
    return base64.b64encode(zlib.compress(text.encode())).decode()


def unpacked(text: str) -> list[dict[str, Json]]:
    """The events that `packed` was given."""
    return [json.loads(line) for line in zlib.decompress(base64.b64decode(text)).decode().splitlines()]


def _usage(reply: dict[str, Json], format: str) -> Json:
    """The usage of a provider with this API, as it is."""
    usage = reply.get("usage") if format == "openai.responses" else None
    if not isinstance(usage, dict) or "input_tokens" not in usage:
        return None
    details: dict[str, Json] = {"input_tokens_details": {"cached_tokens": 0},
                                "output_tokens_details": {"reasoning_tokens": 0}}  # fmt: skip
    total = usage["input_tokens"] + (usage.get("output_tokens") or 0)
    return {**details, "total_tokens": total, **{key: one for key, one in usage.items() if one is not None}}


def _with_id(item: Json) -> dict[str, Json]:
    if not isinstance(item, dict):
        raise FormatError(f"The provider's output has something that is no item: {item!r:.60}.")
    return item if item.get("id") else {**item, "id": mint(prefix_of(str(item.get("type"))))}
