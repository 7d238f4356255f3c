"""Connection to one MCP server: start or connect, list tools, call them, reconnect, close.

All of it runs on the event loop of `Servers`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any

from bough.agent.mcp.results import decode_result
from bough.agent.mcp.stderr import StderrTail
from bough.agent.tools import Result
from bough.errors import ToolError
from bough.model import Json
from bough.model.values import value

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp.types import CallToolResult, Tool

CONNECTING = 30.0
"""Seconds that a server may take to start."""
PAUSE = 10.0
"""Seconds between two restarts of a server."""
ENDED = "has ended, and with it all that it remembered; the next call starts it again"
AWAY = "is not there any more; the next call looks for it again"
PAGES = 100
EMPTY: Mapping[str, str] = {}


@value
class Server:
    """Settings of an MCP server, as in `[mcp.NAME]`: a command or a URL. Raises `ToolError` for neither or both."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = EMPTY
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = EMPTY
    seconds: float | None = None
    """Time limit of one call, if not the agent's."""

    def __post_init__(self) -> None:
        if bool(self.command) == bool(self.url):
            raise ToolError(f"The MCP server {self.name!r} needs either a command or a url.")

    @classmethod
    def of(cls, name: str, table: Mapping[str, Any]) -> Server:
        """The settings in a table of the configuration. `$NAME` is expanded from the environment."""
        env = {key: os.path.expandvars(str(one)) for key, one in table.get("env", {}).items()}
        headers = {key: os.path.expandvars(str(one)) for key, one in table.get("headers", {}).items()}
        command = tuple(str(word) for word in table.get("command", ()))
        return cls(name, command, env, table.get("cwd"), table.get("url"), headers, table.get("timeout"))


class ServerConnection:
    """Connection to a server, which may be lost."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tools: list[Tool] = []
        self.is_stale = False
        """Whether the server has reported a change of its tools."""
        self.name = ""
        """Name by which the server identifies."""
        self._client: Client | None = None
        self._stderr: StderrTail | None = None
        self._lost = asyncio.Event()
        self._excess = ""
        """Why the connection was ended from here."""
        self._life: asyncio.Task[None] | None = None
        self._again_at = 0.0
        self._reconnecting = asyncio.Lock()

    async def connect(self, closing: asyncio.Event) -> None:
        """Connect, until `closing` is set or the server ends. Raises `ToolError`."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lost.clear()
        self._excess = ""
        self._life = asyncio.create_task(self._live(ready, closing))
        await asyncio.shield(ready)

    async def reconnect(self, closing: asyncio.Event) -> None:
        """Connect again if the server has ended, at most once in `PAUSE` seconds. Raises `ToolError`."""
        async with self._reconnecting:
            if self._client is not None and not self._lost.is_set():
                return
            await self.wait_closed()
            now = asyncio.get_running_loop().time()
            if now < self._again_at:
                raise ToolError(self._describe(f"is gone again; call it in {self._again_at - now:.0f} seconds", None))
            self._again_at = now + PAUSE
            await self.connect(closing)

    async def wait_closed(self) -> None:
        """Wait until the connection is closed."""
        if self._life is not None:
            await asyncio.wait([self._life])

    async def _live(self, ready: asyncio.Future[None], closing: asyncio.Event) -> None:
        """Connect, set `ready`, and keep the connection open until it is closed or lost."""
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(CONNECTING):
                    await self._connect(stack)
                ready.set_result(None)
                listening = asyncio.create_task(self._listen())
                ends = [asyncio.create_task(event.wait()) for event in (closing, self._lost)]
                await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
                for task in (listening, *ends):
                    task.cancel()
                await asyncio.wait([listening, *ends])
        except BaseException as error:
            if ready.done():
                return  # errors while closing do not matter
            ready.set_exception(ToolError(self._describe("cannot be used", error)))
        finally:
            self._client = None

    async def refresh(self) -> None:
        """List the tools again."""
        self.is_stale = False
        if self._client is None:
            return
        found, cursor = [], None
        for _ in range(PAGES):  # limited, because a faulty server could return pages for ever
            page = await self._client.list_tools(cursor=cursor, cache_mode="refresh")
            found += page.tools
            cursor = page.next_cursor
            if cursor is None:
                break
        self.tools = found

    async def call(self, name: str, arguments: dict[str, Json], meta: dict[str, str] | None) -> Result:
        """Call a tool. Raises `ToolError` if the server fails or is gone."""
        if self._client is None:
            raise ToolError(self._describe(AWAY, None))
        try:
            untyped_meta: Any = meta
            return decode_result(await self._unless_lost(self._client.call_tool(name, arguments, meta=untyped_meta)))
        except Exception as error:
            if not (self._excess or is_connection_closed(error)):
                raise ToolError(self._describe("failed", error)) from None
            self._lost.set()
            await self.wait_closed()
            what = self._excess or (ENDED if self.server.command else AWAY)
            raise ToolError(self._describe(what, None)) from None

    async def _unless_lost(self, call: Coroutine[Any, Any, CallToolResult]) -> CallToolResult:
        """The result of a call. Raises `ConnectionError` when the connection is ended from here meanwhile."""
        calling, lost = asyncio.create_task(call), asyncio.create_task(self._lost.wait())
        try:
            await asyncio.wait([calling, lost], return_when=asyncio.FIRST_COMPLETED)
            if not calling.done() and self._excess:
                raise ConnectionAbortedError(self._excess)
            return await calling
        finally:
            calling.cancel()
            lost.cancel()

    def _end(self, reason: str) -> None:
        self._excess = f"{reason}; it was ended, and the next call starts it again"
        self._lost.set()

    async def _connect(self, stack: AsyncExitStack) -> None:
        from mcp import Client
        from mcp.types import Implementation

        import bough

        about = Implementation(name="bough", version=bough.__version__)
        client = Client(self._transport(stack), client_info=about, message_handler=self._on_message)
        self._client = await stack.enter_async_context(client)
        if self._stderr:
            self._stderr.close_write_end()
        self.name = client.server_info.name if client.server_info else ""
        await self.refresh()

    def _transport(self, stack: AsyncExitStack) -> Transport:
        server = self.server
        if server.url is not None:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            # No read timeout, because the caller limits the time of a call.
            http = httpx2.AsyncClient(headers=dict(server.headers), timeout=httpx2.Timeout(CONNECTING, read=None))
            stack.push_async_callback(http.aclose)
            return streamable_http_client(server.url, http_client=http)
        from mcp import StdioServerParameters, stdio_client

        from bough.agent.mcp.line_limit import ENCODING, on_excess

        on_excess.set(self._end)  # of the task of this connection, and those that it starts
        program, *words = server.command
        self._stderr = StderrTail()
        stack.callback(self._stderr.close_write_end)
        parameters = StdioServerParameters(
            command=program, args=words, env=dict(server.env), cwd=server.cwd, encoding=ENCODING
        )
        return stdio_client(parameters, errlog=self._stderr.file)

    async def _on_message(self, message: object) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self.is_stale = True

    async def _listen(self) -> None:
        """Subscribe to changes of the tools. Older servers report them without a subscription."""
        assert self._client is not None
        with suppress(Exception):  # without the subscription the tools are only not refreshed
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.is_stale = True

    def _describe(self, what: str, error: BaseException | None) -> str:
        reason = f": {cause(error)}" if error is not None else ""
        words = self._stderr.text(wait=0.5 if self._client is None else 0.0) if self._stderr else ""
        return f"The MCP server {self.server.name!r} {what}{reason}." + (f" It said last:\n{words}" if words else "")


def is_connection_closed(error: Exception) -> bool:
    """Whether an error means that the connection is closed."""
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    return isinstance(error, MCPError) and error.code == CONNECTION_CLOSED


def cause(error: BaseException) -> str:
    """Text of an error; of the first one in a group."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return f"no answer within {CONNECTING:g} seconds"
    return str(error).rstrip(".") or type(error).__name__
