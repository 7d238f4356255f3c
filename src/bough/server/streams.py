"""What the routes that stream have in common."""

from __future__ import annotations

import asyncio
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect, Request

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
