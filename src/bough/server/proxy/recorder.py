"""What the proxy keeps of a request and its reply."""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from bough import formats
from bough.errors import BoughError, FormatError
from bough.model import Json, Message
from bough.server.observe import log
from bough.server.recording import record, spoken

if TYPE_CHECKING:
    from bough.server.stores import ServedStore

KIND = "proxy.response"
"""The kind of the external names of a provider's responses, which a later request may continue."""
MOST = 64_000_000
"""Bytes of a reply that are kept in memory to record it."""
REQUEST_IDS = ("x-request-id", "request-id")
MARKS = {
    "openai.chat": (b"[DONE]",), "anthropic": (b"message_stop",),
    "openai.responses": (b"response.completed", b"response.incomplete"),
}  # fmt: skip
"""What is in the last event of a stream."""
LONGEST_MARK = 24
ENDS = {"openai.responses": ("response.completed", "response.incomplete"), "anthropic": ("message_stop",)}


def client_name(user_agent: str) -> str:
    """A short name of a program: `claude-cli/2.0 (…)` is `claude-cli`."""
    return (
        re.sub(r"[^a-z0-9_.-]", "", user_agent.split("/", maxsplit=1)[0].split(" ", maxsplit=1)[0].lower())[:40]
        or "client"
    )


class ProxiedDialog:
    """One request with a dialog: the question is stored when it is sent, the reply when it has come whole."""

    def __init__(self, store: ServedStore, prefix: str, format: str, body: bytes) -> None:
        self._store = store
        self._prefix = prefix
        self._format = format
        self._body = body
        self._messages: tuple[Message, ...] = ()
        self._received: list[bytes] = []
        self._size = 0
        self._stored = False
        self._started_at = time.time_ns() // 1000
        self._first_at: int | None = None

    async def ask(self) -> None:
        """Store the question. Whatever is wrong with it is the provider's business."""
        await self._attempt(self._store_question)

    def take(self, piece: bytes) -> bool:
        """A piece of the reply; whether the reply ends in it."""
        self._first_at = self._first_at or time.time_ns() // 1000
        self._size += len(piece)
        if self._size > MOST:
            return False
        end = (self._received[-1][-LONGEST_MARK:] if self._received else b"") + piece
        self._received.append(piece)
        return any(mark in end for mark in MARKS[self._format])

    async def answer(self, headers: Mapping[str, str]) -> None:
        """Store the reply, if it came whole, once."""
        if self._size <= MOST and not self._stored:
            await self._attempt(self._store_reply, headers)

    async def _attempt(self, work: Callable[..., None], *args: Any) -> None:
        """A dialog that cannot be stored is no reason to keep it from its client; the log says so, without content."""
        try:
            await self._store.call(lambda _: work(*args))
        except (BoughError, ValueError, LookupError, TypeError, RecursionError, AttributeError, zlib.error) as error:
            log.error('{"proxied":"not recorded","error":"%s"}', type(error).__name__)

    def _store_question(self) -> None:
        body = json.loads(self._body)
        if self._format == "openai.responses":
            items = body.get("input")
            items = [{"role": "user", "content": items}] if isinstance(items, str) else items
            self._messages = (*self._before(body.get("previous_response_id")), *spoken(self._format, items))
        else:
            self._messages = spoken(self._format, body["messages"])
        record(self._store.sync, self._prefix, self._messages)

    def _before(self, previous: Json) -> tuple[Message, ...]:
        """The dialog that a provider has stored, as far as it passed here."""
        if not isinstance(previous, str):
            return ()
        message = self._store.sync.find_external(KIND, previous)
        return () if message is None else tuple(node.message for node in self._store.sync.path(message))

    def _store_reply(self, headers: Mapping[str, str]) -> None:
        content_type, encoding = headers.get("content-type", ""), headers.get("content-encoding", "")
        request_id = next((headers[key] for key in REQUEST_IDS if key in headers), None)
        data = b"".join(self._received)
        if encoding in ("gzip", "deflate"):
            data = zlib.decompress(data, 47)
        elif encoding not in ("", "identity"):
            return
        reply = json.loads(data) if "json" in content_type else self._assembled(data.decode())
        if reply is None or not self._messages:
            return
        id = reply.get("id")
        name = {"external_name": (KIND, id)} if self._format == "openai.responses" and isinstance(id, str) else {}
        provider = "anthropic" if self._format == "anthropic" else "openai"
        record(
            self._store.sync, self._prefix, self._messages, reply, provider=provider, request_id=request_id,
            started_at=self._started_at, first_token_at=self._first_at, **name,
        )  # fmt: skip
        self._stored = True

    def _assembled(self, text: str) -> dict[str, Json] | None:
        """The reply in a stream; None if it is not whole."""
        stream, whole = formats.get(self._format).accumulator(), False
        for line in text.splitlines():
            if not line.startswith("data:"):
                continue
            data = line.removeprefix("data:").strip()
            if data == "[DONE]":
                whole = True
            elif data:
                event = json.loads(data)
                stream.feed(event)
                whole = whole or self._ends(event)
        return stream.reply() if whole else None

    def _ends(self, event: Json) -> bool:
        if not isinstance(event, dict):
            raise FormatError("An event is an object.")
        if self._format == "openai.chat":
            return any(choice.get("finish_reason") for choice in event.get("choices") or ())
        return event.get("type") in ENDS[self._format]
