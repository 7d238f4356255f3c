"""The inbox: what came from a service, stored before the service is told that it was received.

So a crash loses no message. An event is waiting, then working, then done. One that the service delivers again is
recognised, for as long as it is kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import NamedTuple

from bough.channels.events import ChannelEvent
from bough.codec import json_text
from bough.model.values import replace
from bough.store import Store

KEPT = 14 * 86_400 * 1_000_000
"""Microseconds that events are remembered. Telegram repeats updates for a day, and edits come for two."""


class InboxRow(NamedTuple):
    """A row of `channel_inbox`."""

    n: int
    delivery: str
    conversation: str
    event: str
    state: str
    turn: str | None


class Received(NamedTuple):
    """An event of the inbox."""

    n: int
    event: ChannelEvent
    state: str
    turn: str | None
    """The turn that answers it, if one was opened."""


class Inbox:
    """The events of one channel."""

    def __init__(self, store: Store, channel: str) -> None:
        self._store = store
        self._channel = channel

    def put(self, event: ChannelEvent) -> bool:
        """Store an event, durably; False for one that is stored already."""

        def work(now: int) -> bool:
            db = self._store.db
            if db.row("channel_event", self._channel, event.delivery) is not None:
                return False
            newest = db.row("newest_channel_event")
            n = ((newest and newest[0]) or 0) + 1
            said = json_text(event.as_json())
            db.run("insert_channel_event", n, self._channel, event.delivery, event.conversation, said, now)
            return True

        return self._store.write(work)

    def find(self, delivery: str) -> Received | None:
        """The event of a delivery, whatever its state."""
        row = self._store.db.row("channel_event", self._channel, delivery)
        return None if row is None else received(InboxRow(*row))

    def open(self) -> list[Received]:
        """The events that are waiting or being worked on, in the order in which they came."""
        return [received(InboxRow(*row)) for row in self._store.db.rows("open_channel_events", self._channel)]

    def take(self, batch: Sequence[Received]) -> list[Received]:
        """Say that events are being worked on together; the events as they are now, with the words of their edits."""

        def work(now: int) -> list[Received]:  # noqa: ARG001
            db = self._store.db
            db.run_many("set_channel_event", [(one.n, "working", None) for one in batch])
            rows = (db.row("channel_event", self._channel, one.event.delivery) for one in batch)
            return [received(InboxRow(*row)) for row in rows if row is not None]

        return self._store.write(work)

    def begin(self, numbers: Sequence[int], turn: str) -> None:
        """Say which turn answers events."""
        rows = [(n, "working", turn) for n in numbers]
        self._store.write(lambda _: self._store.db.run_many("set_channel_event", rows))

    def finish(self, numbers: Sequence[int], also: Callable[[int], object] | None = None) -> None:
        """Say that events are done, in one transaction with other work."""

        def work(now: int) -> None:
            self._store.db.run_many("set_channel_event", [(n, "done", None) for n in numbers])
            if also is not None:
                also(now)

        self._store.write(work)

    def reword(self, event: ChannelEvent) -> bool:
        """Give a message that is still waiting the words of its edit; False if it is not waiting any more."""

        delivery = message_delivery(event.chat, event.message or "")

        def work(now: int) -> bool:  # noqa: ARG001
            row = self._store.db.row("channel_event", self._channel, delivery)
            waiting = None if row is None else received(InboxRow(*row))
            if waiting is None or waiting.state != "waiting":
                return False
            said = replace(waiting.event, text=event.text)
            self._store.db.run("change_channel_event", self._channel, delivery, json_text(said.as_json()))
            return True

        return self._store.write(work)

    def prune(self) -> None:
        """Forget events that were done long ago, and which messages answered them."""

        def work(now: int) -> None:
            self._store.db.run("prune_channel_inbox", self._channel, now - KEPT)
            self._store.db.run("prune_channel_outbox", self._channel)

        self._store.write(work)


def message_delivery(chat: str, message: str) -> str:
    """How the delivery of a message is called; an edit of it has another name."""
    return f"m:{chat}:{message}"


def received(row: InboxRow) -> Received:
    return Received(row.n, ChannelEvent.from_json(json.loads(row.event)), row.state, row.turn)
