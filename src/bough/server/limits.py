"""Middleware that limits what a client can make the server hold or wait for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect

from bough.server.problems import HttpProblem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bough.server.settings import ServerSettings

UPLOADS = ("/api/v1/imports", "/do/import")
"""Paths that take whole files."""


class ClientLimits:
    """ASGI middleware. A body that is too large is 413, one that stalls 408; a client that takes nothing is cut off."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        settings = self._settings
        most = settings.max_upload if scope["path"] in UPLOADS else settings.max_body
        state, complete, received = scope["state"], False, 0

        async def receive_limited() -> Message:
            nonlocal complete, received
            if complete:  # what follows is only the news that the client is gone
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), settings.read_seconds)
            except TimeoutError:
                raise HttpProblem(408, "request-too-slow", f"{settings.read_seconds:g} seconds without data.") from None
            received += len(message.get("body", b""))
            if received > most:
                raise too_large(most)
            complete = not message.get("more_body", False)
            return message

        async def send_limited(message: Message) -> None:
            try:
                await asyncio.wait_for(send(message), settings.write_seconds)
            except TimeoutError:
                raise ClientDisconnect from None

        try:
            declared = Headers(scope=scope).get("content-length", "0")
            if declared.isdecimal() and int(declared) > most:
                raise too_large(most)
            await self._app(scope, receive_limited, send_limited)
        except HttpProblem as problem:
            await state["area"].error(problem.problem, state["request_id"])(scope, receive, send)
        except ClientDisconnect:
            return


def too_large(most: int) -> HttpProblem:
    return HttpProblem(413, "body-too-large", f"The body has more than {most:,} bytes, the limit; nothing was done.")
