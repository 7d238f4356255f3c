"""The ASGI application: the areas of the server behind the gate."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from bough.errors import BoughError
from bough.server import health, signin
from bough.server.access.gate import Gate
from bough.server.anthropic import messages
from bough.server.api.routes import mount
from bough.server.headers import SecurityHeaders
from bough.server.indexing import keep_indexed
from bough.server.limits import ClientLimits
from bough.server.mcp.http import McpEndpoint
from bough.server.observe import Observer, log
from bough.server.openai import completions, conversations, model_list, responses
from bough.server.page import routes as page
from bough.server.problems import HttpProblem, Problem, of_error
from bough.server.proxy import forward

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from bough.server.context import ServerContext


STATIC = os.path.join(os.path.dirname(__file__), "static")


def build(context: ServerContext) -> ASGIApp:
    """The application. The end of its lifespan closes the stores and the models."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:  # noqa: ARG001
        indexing = asyncio.create_task(keep_indexed(context))
        try:
            async with mcp.running():
                yield
        finally:
            indexing.cancel()
            await context.close()

    mcp = McpEndpoint(context)
    areas = (responses, conversations, model_list, completions, messages, forward, health, signin)
    own = [route for area in areas for route in area.routes]
    static = Mount("/static", StaticFiles(directory=STATIC))
    routes = [*own, mount(), mcp.route(), context.metrics.route(), *page.assets, static, *page.routes]
    app = Starlette(routes=routes, lifespan=lifespan, middleware=[Middleware(ClientLimits, settings=context.settings)],
        exception_handlers={HttpProblem: show_error, BoughError: show_error, HTTPException: show_http_error,
                            Exception: show_error})  # fmt: skip
    gate = Gate(app, context.settings, context.stores, context.cookies)
    app.state.context, app.state.gate = context, gate
    return Observer(SecurityHeaders(gate), context.metrics)


async def show_error(request: Request, error: Exception) -> Response:
    """An error in the envelope of its area. One that is not bough's own is logged, without its text."""
    problem = of_error(error)
    if problem.code == "internal-error":
        log.error('{"request":"%s","error":"%s"}', request.state.request_id, type(error).__name__, exc_info=error)
    return request.state.area.error(problem, request.state.request_id)  # type: ignore[no-any-return]


async def show_http_error(request: Request, error: Exception) -> Response:
    """An error of the framework: no such path, no such method, a body that is not what it says."""
    assert isinstance(error, HTTPException)
    code = {404: "no-such-path", 405: "method-not-allowed"}.get(error.status_code, "bad-request")
    problem = Problem(error.status_code, code, f"{request.method} {request.url.path}: {error.detail}.")
    return request.state.area.error(problem, request.state.request_id)  # type: ignore[no-any-return]
