"""`/healthz` and `/readyz`: whether the process answers, and whether it can serve."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bough.errors import BoughError
from bough.server.context import context_of


async def healthz(request: Request) -> Response:  # noqa: ARG001
    """The process answers."""
    return PlainTextResponse("ok\n")


async def readyz(request: Request) -> Response:
    """The store can be read, and the server is not stopping."""
    context = context_of(request)
    if context.stopping.is_set():
        return PlainTextResponse("stopping\n", 503)
    try:
        home = await context.stores.home()
        await home.call(lambda store: store.cursor())
    except BoughError as error:
        return PlainTextResponse(f"the store cannot be read ({error.code})\n", 503)
    return PlainTextResponse("ready\n")


routes = [Route("/healthz", healthz), Route("/readyz", readyz)]
