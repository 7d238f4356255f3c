"""`GET /events`: one stream of what happens in the store, by any process, and of turns as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from bough.errors import CursorExpired
from bough.server.api.feed import FeedEvent, concerns, described, reset
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.api.parsing import wrong
from bough.server.streams import STREAM

if TYPE_CHECKING:
    from bough.server.api.feed import Subscriber

HEARTBEAT = 15.0
RETRY = b"retry: 2000\n\n"
PAGE = 500


async def events(call: ApiCall) -> Response:
    """The stream."""
    return StreamingResponse(stream(call, begin(call)), headers=STREAM, media_type="text/event-stream")


def begin(call: ApiCall) -> int | None:
    """The number of the last change that the client has seen. Raises `HttpProblem` for what is no number."""
    seen = call.request.headers.get("last-event-id") or None
    if seen is None:
        return call["after"]  # type: ignore[no-any-return]
    if not seen.isdecimal() or len(seen) > 18:
        raise wrong("Last-Event-ID", f"Last-Event-ID is the number of a change, not {seen!r:.60}.")
    return int(seen)


async def stream(call: ApiCall, after: int | None) -> AsyncIterator[bytes]:
    """What was changed after `after`, then what happens, until the client or the server ends it."""
    store, session = call.store, call["session"]
    async with call.context.api.feeds.follow(store, session) as (subscriber, start):
        yield RETRY
        async for event in missed(call, after, start):
            yield event.frame
        yield FeedEvent("ready", {"cursor": start}, start).frame
        while not subscriber.is_closed and not call.context.stopping.is_set():
            if await came(call, subscriber):
                yield b"".join(event.frame for event in subscriber.take())
            elif await call.request.app.state.gate.is_still_allowed(call.request.scope):
                yield b": heartbeat\n\n"
            else:
                return


async def missed(call: ApiCall, after: int | None, end: int) -> AsyncIterator[FeedEvent]:
    """The events between two changes; a `reset` if they are not all kept."""
    while after is not None and after != end:
        try:
            found = await call.store.changes(after, PAGE)
        except CursorExpired:
            yield reset(end)
            return
        older = [change for change in found if change.cursor <= end]
        for event in await call.store.call(described, older):
            if concerns(event, call["session"]):
                yield event
        if not older:
            return
        after = older[-1].cursor


async def came(call: ApiCall, subscriber: Subscriber) -> bool:
    """Wait for the next event; False after a while without one, and when the server stops."""
    waits = {asyncio.ensure_future(subscriber.wait()), asyncio.ensure_future(call.context.stopping.wait())}
    try:
        done, _ = await asyncio.wait(waits, timeout=HEARTBEAT, return_when=asyncio.FIRST_COMPLETED)
        return bool(done) and not call.context.stopping.is_set()
    finally:
        for wait in waits:
            wait.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*waits, return_exceptions=True)


OPERATIONS = (
    Operation(
        "GET", "/events", "events",
        "Follow changes of the store, by any process, and turns while they are written, as server-sent events.",
        events, {"type": "string"},
        query=(
            Field("session", "string", "Only this session, those that work for it, and what is of no session."),
            Field("after", "integer", "The number of the last change that was seen, where `Last-Event-ID` is not sent.",
                  least=0),
        ),
        media_type="text/event-stream",
    ),
)  # fmt: skip
