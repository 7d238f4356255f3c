"""Feeds: what happens in a store, for any number of clients. One task reads the changes of a store for all of them."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bough.errors import BoughError, CursorExpired, NotFound
from bough.formats.jsonl import encode_message
from bough.storage.changes import PAUSE

if TYPE_CHECKING:
    from bough.model import Change
    from bough.server.stores import ServedStore
    from bough.storage.changes import Follower
    from bough.store import Store

TOPICS = {
    "opened": "turn.started", "added": "message.added", "sketched": "turn.sketch", "ended": "turn.done",
    "compacted": "message.added", "moved": "session.moved", "created": "session.created",
    "updated": "session.updated", "cleared": "session.moved", "labelled": "message.labelled",
    "named": "message.named", "pinned": "session.updated", "deleted": "trash.changed", "restored": "trash.changed",
    "purged": "trash.changed", "document": "session.document", "imported": "import.done",
    "repaired": "store.changed", "copied": "store.changed",
}  # fmt: skip
"""The topic of each kind of change; `store.changed` for one that is not listed."""
MOST_WAITING = 5_000
"""Events that wait for a slow client, before it is asked to load again."""


class FeedEvent:
    """One event for clients."""

    def __init__(self, topic: str, data: dict[str, Any], cursor: int | None = None) -> None:
        self.topic = topic
        self.data = data
        self.cursor = cursor
        """The number of the change; None for what is not one, and cannot be asked for again."""

    @cached_property
    def frame(self) -> bytes:
        """The event as it is sent."""
        id = "" if self.cursor is None else f"id: {self.cursor}\n"
        return f"{id}event: {self.topic}\ndata: {json.dumps(self.data)}\n\n".encode("ascii")


class Subscriber:
    """The events that wait for one client."""

    def __init__(self, session: str | None) -> None:
        self.session = session
        self.is_closed = False
        self._waiting: deque[FeedEvent] = deque()
        self._came = asyncio.Event()
        self._is_late = False

    def offer(self, event: FeedEvent) -> None:
        """Add an event, if the client wants it."""
        if not concerns(event, self.session):
            return
        if len(self._waiting) >= MOST_WAITING:
            self._waiting.clear()
            self._is_late = True
        self._waiting.append(event)
        self._came.set()

    def close(self) -> None:
        """There will be no more events; the client connects again."""
        self.is_closed = True
        self._came.set()

    async def wait(self) -> None:
        """Wait until there is something to take, or the end."""
        await self._came.wait()

    def take(self) -> list[FeedEvent]:
        """What has come; after too much of it, a `reset` first."""
        self._came.clear()
        taken, self._waiting = list(self._waiting), deque()
        if self._is_late and taken:
            self._is_late = False
            last = max((event.cursor or 0 for event in taken), default=0)
            return [reset(last or None)]
        return taken


class Feed:
    """The events of one store."""

    def __init__(self, store: ServedStore) -> None:
        self.cursor = 0
        """The number of the last change that was sent."""
        self.subscribers: set[Subscriber] = set()
        self._store = store
        self._loop = asyncio.get_running_loop()
        self.task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin after the newest change."""
        self.cursor = await self._store.cursor()
        self.task = asyncio.create_task(self._follow())

    def publish(self, event: FeedEvent) -> None:
        """Send an event to all who want it. Safe from any thread."""
        self._loop.call_soon_threadsafe(self._send, event)

    def _send(self, event: FeedEvent) -> None:
        if event.cursor is not None:
            self.cursor = event.cursor
        for subscriber in self.subscribers:
            subscriber.offer(event)

    async def _follow(self) -> None:
        try:
            follower = await self._store.call(lambda store: store.follower(self.cursor))
            while True:
                try:
                    events = await self._store.call(poll, follower)
                except CursorExpired:  # more was written in a moment than is kept
                    self.cursor = await self._store.cursor()
                    follower.cursor = self.cursor
                    events = [reset(self.cursor)]
                for event in events:
                    self._send(event)
                if not events:
                    await asyncio.sleep(PAUSE)
        except BoughError:
            for subscriber in self.subscribers:
                subscriber.close()


class Feeds:
    """The feeds of a server, as long as somebody follows them."""

    def __init__(self) -> None:
        self._all: dict[ServedStore, Feed] = {}
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def follow(self, store: ServedStore, session: str | None) -> AsyncIterator[tuple[Subscriber, int]]:
        """Follow a store; a subscriber, and the number of the last change that it does not get."""
        async with self._lock:
            feed = self._all.get(store)
            if feed is None or feed.task is None or feed.task.done():
                feed = self._all[store] = Feed(store)
                await feed.start()
            subscriber = Subscriber(session)
            feed.subscribers.add(subscriber)
        try:
            yield subscriber, feed.cursor
        finally:
            feed.subscribers.discard(subscriber)
            if not feed.subscribers and self._all.get(store) is feed:
                del self._all[store]
                if feed.task is not None:
                    feed.task.cancel()

    def publish(self, store: ServedStore, topic: str, data: dict[str, Any]) -> None:
        """Send what is no change to the followers of a store, if there are any. Safe from any thread."""
        if (feed := self._all.get(store)) is not None:
            feed.publish(FeedEvent(topic, data))


def reset(cursor: int | None) -> FeedEvent:
    """Tells a client that it has missed changes, and has to load again what it shows."""
    return FeedEvent("reset", {"cursor": cursor}, cursor)


def concerns(event: FeedEvent, session: str | None) -> bool:
    """Whether an event is of a session, of one that works for it, or of none."""
    owner = event.data.get("session")
    if session is None or owner is None:
        return True
    return bool(owner == session) or str(owner).startswith(f"{session}:delegate:")


def poll(store: Store, follower: Follower) -> list[FeedEvent]:
    """The events of the next changes."""
    return described(store, follower.poll())


def described(store: Store, changes: list[Change]) -> list[FeedEvent]:
    """The events of changes, with what a client would ask for first."""
    return [event for change in changes for event in of_change(store, change)]


def of_change(store: Store, change: Change) -> Iterator[FeedEvent]:
    topic = TOPICS.get(change.kind, "store.changed")
    data: dict[str, Any] = {
        "cursor": change.cursor, "kind": change.kind, "session": change.session, "message": change.message_id,
        "at": change.at,
    }  # fmt: skip
    if topic == "turn.sketch":
        for reply in store.running_replies(change.session):
            content = encode_message(reply.message)["blocks"]
            yield FeedEvent(topic, {**data, "turn": reply.turn_id, "blocks": content}, change.cursor)
        return
    try:
        if topic.startswith("turn.") and change.message_id is not None:
            data |= turn_members(store, change.message_id)
        elif topic == "message.added" and change.message_id is not None:
            (line,) = store.headlines([change.message_id])
            data |= {"parent": line.parent_id, "turn": line.turn_id, "role": line.role}
    except NotFound:
        data["gone"] = True  # it was deleted since
    if data.get("status") in ("failed", "interrupted"):
        topic = "turn.failed"
    yield FeedEvent(topic, data, change.cursor)


def turn_members(store: Store, id: str) -> dict[str, Any]:
    """The turn that a change names: that of its first message, or, of another answer, that of the question."""
    try:
        turn = store.turn_info(id)
    except NotFound:
        return {"turn": None, "question": id}
    return {"turn": id, "status": turn.status, "last": turn.last_id, "model": turn.model, "error": turn.error}
