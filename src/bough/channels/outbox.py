"""The outbox: which messages at the service are the answer to which event.

A message is sent as a placeholder, its id is stored, and then it is only edited. An edit can be repeated after a crash,
sending cannot: what a crash can leave behind is one placeholder.
"""

from __future__ import annotations

from typing import NamedTuple

from bough.store import Store


class Sent(NamedTuple):
    """A message at the service."""

    chat: str
    external: str


class Outbox:
    """The messages of one channel, by the event that they answer."""

    def __init__(self, store: Store, channel: str) -> None:
        self._store = store
        self._channel = channel

    def parts(self, delivery: str) -> list[Sent]:
        """The messages that answer an event, in their order."""
        return [Sent(*row) for row in self._store.db.rows("channel_parts", self._channel, delivery)]

    def put(self, delivery: str, position: int, sent: Sent) -> None:
        """Store the id of a message that was sent."""
        self._store.write(lambda _: self._store.db.run("put_channel_part", self._channel, delivery, position, *sent))

    def remove(self, delivery: str, position: int) -> None:
        """Forget a message that was deleted at the service."""
        self._store.write(lambda _: self._store.db.run("delete_channel_part", self._channel, delivery, position))
