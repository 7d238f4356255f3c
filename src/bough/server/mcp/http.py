"""`/mcp`: the history over streamable HTTP. Each request stands alone, so that any worker can answer it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.routing import Route

from bough.errors import ToolError
from bough.server.api.turns import runtime_for
from bough.server.mcp.asking import asking
from bough.server.mcp.history import History
from bough.server.mcp.serving import server_of
from bough.server.problems import HttpProblem

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from bough.server.access.scopes import Access
    from bough.server.context import ServerContext

OPT_IN = ("write", "run")


class McpEndpoint:
    """ASGI application of `/mcp`."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ready to answer; without the SDK every request is an error that says what to install."""
        try:
            server = server_of(self.history)
        except ToolError:
            yield
            return
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        self._manager = StreamableHTTPSessionManager(server, stateless=True, json_response=True)
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._manager is None:
            raise HttpProblem(501, "mcp-missing", "The server lacks the MCP SDK: pip install 'bough[mcp]'.")
        await self._manager.handle_request(scope, receive, send)

    def history(self, ctx: Any) -> tuple[History, Collection[str]]:
        """The store of the token, and what it and the address allow."""
        request: Request = ctx.request
        access: Access = request.state.access
        scopes = {"read", *(one for one in OPT_IN if request.query_params.get(one) in ("1", "true"))}
        runtime = runtime_for(self._context, access.tenant)
        ask = asking(runtime, self._context.models.spec)
        return History(request.state.store.sync, None, ask), scopes & access.scopes

    def route(self) -> Route:
        """The route of the endpoint."""
        return Route("/mcp", self, methods=["GET", "POST", "DELETE"])
