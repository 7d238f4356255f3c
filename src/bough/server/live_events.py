"""One stream of everything that changes: the changes of the store, by any process, and replies as they are written."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from bough.errors import CursorExpired

if TYPE_CHECKING:
    from bough.model import Change
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore
    from bough.storage.changes import Follower
    from bough.store import Store

PAUSE = 0.1
"""Seconds between two looks."""
HEARTBEAT = 15.0
RETRY = 1000
"""Milliseconds after which a browser connects again."""


async def live_events(context: ServerContext, store: ServedStore, after: int | None) -> AsyncIterator[bytes]:
    """Frames of server-sent events, from a cursor on, or from now. `reset` tells a reader to read everything again."""
    yield f"retry: {RETRY}\n\n".encode()
    try:
        follower = await store.call(lambda one: one.follower(after))
    except CursorExpired:
        follower = await store.call(lambda one: one.follower(None))
        yield frame("reset", {}, follower.cursor)
    written, sent = context.runs.newest, time.monotonic()
    while not context.stopping.is_set():
        try:
            found = await store.call(_poll, follower)
        except CursorExpired:
            follower = await store.call(lambda one: one.follower(None))
            yield frame("reset", {}, follower.cursor)
            continue
        frames = [frame("change", change_json(change), change.cursor) for change in found]
        texts: dict[str, str] = {}
        for delta in context.runs.deltas(store, written):
            texts[delta.turn] = texts.get(delta.turn, "") + delta.text
            written = delta.number
        frames += [frame("delta", {"turn": turn, "text": text}) for turn, text in texts.items()]
        if frames or time.monotonic() - sent > HEARTBEAT:
            yield b"".join(frames) or b":\n\n"
            sent = time.monotonic()
        await asyncio.sleep(PAUSE)


def _poll(_: Store, follower: Follower) -> list[Change]:
    return follower.poll()


def change_json(change: Change) -> dict[str, Any]:
    """A change as JSON."""
    return {"kind": change.kind, "session": change.session, "message": change.message_id, "at": change.at}


def frame(event: str, data: dict[str, Any], cursor: int | None = None) -> bytes:
    """One event; its cursor is what a browser sends back when it connects again."""
    id = "" if cursor is None else f"id: {cursor}\n"
    return f"{id}event: {event}\ndata: {json.dumps(data)}\n\n".encode()
