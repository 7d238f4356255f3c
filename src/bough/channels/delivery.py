"""Deliver an answer: as placeholders that are edited, at the pace of the service, and again after a crash."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from bough.channels.outbox import Outbox, Sent
from bough.channels.service import ChatService, Menu, persist
from bough.channels.split import split
from bough.errors import ChannelError

if TYPE_CHECKING:
    from bough.agent import Stop

PLACEHOLDER = "…"
TYPING_SECONDS = 4.0


class Delivery:
    """The messages at the service that are the answer to one event."""

    def __init__(
        self, service: ChatService, outbox: Outbox, delivery: str, chat: str, reply_to: str | None, stop: Stop
    ) -> None:
        self._service = service
        self._outbox = outbox
        self._delivery = delivery
        self._chat = chat
        self._reply_to = reply_to
        self._stop = stop
        self.sent = outbox.parts(delivery)
        self._shown: list[str | None] = [None] * len(self.sent)

    def show(self, text: str) -> None:
        """Make the messages show a text; raises `ChannelError` if the service does not accept that now."""
        for position, part in enumerate(split(text or PLACEHOLDER, self._service.text_limit, self._service.measure)):
            self._show_part(position, part)

    def finish(self, text: str, menu: Menu = ()) -> None:
        """Make them show the whole text and nothing else, however long the service takes.

        Raises `ChannelError` for what it will never accept, and when the bot stops.
        """
        parts = split(text, self._service.text_limit, self._service.measure)
        for position, part in enumerate(parts):
            last = menu if position == len(parts) - 1 else ()
            persist(partial(self._show_part, position, part, last), self._stop)
        for position in range(len(self.sent) - 1, len(parts) - 1, -1):
            persist(partial(self._service.delete, *self.sent[position]), self._stop)
            self._outbox.remove(self._delivery, position)
            del self.sent[position], self._shown[position]

    def _show_part(self, position: int, text: str, menu: Menu = ()) -> None:
        if position == len(self.sent):
            self._send(position)
        if self._shown[position] == text and not menu:
            return
        try:
            self._service.edit(*self.sent[position], text, menu=menu)
        except ChannelError as error:
            if error.kind != "message_gone":
                raise
            self._send(position, attempt="again")
            self._service.edit(*self.sent[position], text, menu=menu)
        self._shown[position] = text

    def _send(self, position: int, attempt: str = "") -> None:
        """Send a placeholder and store its id."""
        nonce = f"{self._delivery}:{position}{attempt}"
        reply_to = self._reply_to if position == 0 else None
        sent = Sent(self._chat, self._service.send(self._chat, PLACEHOLDER, nonce=nonce, reply_to=reply_to))
        self._outbox.put(self._delivery, position, sent)
        self.sent[position:] = [sent]
        self._shown[position:] = [PLACEHOLDER]


class LiveDelivery:
    """Shows a text that grows, in a thread of its own, so that a slow service never holds up the model or `/stop`."""

    def __init__(self, delivery: Delivery, service: ChatService, chat: str) -> None:
        self._delivery = delivery
        self._service = service
        self._chat = chat
        self._texts: list[str] = []
        self._grown = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="delivery", daemon=True)
        self._thread.start()

    def add(self, text: str) -> None:
        """Add a piece of the text."""
        self._texts.append(text)
        self._grown.set()

    def restart(self) -> None:
        """Begin the text again, after a reply that only called tools."""
        self._texts.clear()

    def end(self) -> None:
        """Wait for the edit that is under way; afterwards nothing is shown by this thread."""
        self._ended.set()
        self._grown.set()
        self._thread.join()

    def _run(self) -> None:
        pause, typed_at = 0.0, 0.0
        while not self._ended.wait(pause):
            has_grown = self._grown.is_set()
            self._grown.clear()
            try:
                if has_grown and self._texts:
                    self._delivery.show("".join(self._texts))
                    pause = self._service.edit_seconds
                    continue
                if time.monotonic() - typed_at >= TYPING_SECONDS:
                    typed_at = time.monotonic()
                    self._service.typing(self._chat)
                pause = 0.0
                self._grown.wait(TYPING_SECONDS)
            except ChannelError as error:  # what is not shown now is shown at the end
                pause = error.retry_after or self._service.edit_seconds
