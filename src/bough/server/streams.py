"""What the routes that stream have in common."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from bough.server.json_text import JsonAnswer

if TYPE_CHECKING:
    from bough.server.openai.relay import Relay

R = TypeVar("R")
STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
"""Headers of a stream: no proxy may keep it or hold it back."""


async def disconnected(request: Request, future: asyncio.Future[R]) -> R:
    """The result of a future. Raises `ClientDisconnect` if the client goes away before."""
    gone = asyncio.ensure_future(_gone(request))
    either: set[asyncio.Future[Any]] = {future, gone}
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not future.done():
            raise ClientDisconnect
        return future.result()
    finally:
        gone.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def follow(relay: Relay) -> AsyncIterator[bytes]:
    """The frames of a relay; a client that goes away ends it."""
    try:
        async for frames in relay.log.follow():
            yield frames
    finally:
        relay.close()


async def answer(request: Request, relay: Relay, *, streams: bool) -> Response:
    """The reply of a relay, as a stream or whole. Raises the error of a provider that has sent nothing yet."""
    try:
        await disconnected(request, relay.accepted)
        if not streams:
            return JsonAnswer(await disconnected(request, relay.finished))
    except BaseException:
        relay.close()
        raise
    return StreamingResponse(follow(relay), headers=STREAM, media_type="text/event-stream")
