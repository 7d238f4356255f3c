"""MCP servers as a source of tools. One thread with an event loop owns all connections; callers wait for it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Collection, Coroutine, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from bough.agent.mcp.call_meta import SERVER_NAME, encode_caller
from bough.agent.mcp.connection import Server, ServerConnection
from bough.agent.tools import Bound, Call, Result, valid_name
from bough.errors import ToolError
from bough.model import Json, Tool

if TYPE_CHECKING:
    from typing import Self

    from mcp import types

T = TypeVar("T")

REFRESHING = 10.0
CLOSING = 10.0
"""Seconds to wait for servers: a run goes on, and a program ends, without one that hangs."""


class Servers:
    """The MCP servers of agents. Leaving the `with` block stops their programs.

    Entering it raises `ToolError` if a server cannot be started, with its name and last lines of stderr.
    """

    def __init__(self, servers: Iterable[Server]) -> None:
        self._connections = [ServerConnection(one) for one in servers]
        self._loop: asyncio.AbstractEventLoop
        self._closing = asyncio.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._connections:
            self._start()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()

    def tools(self, only: Collection[str] | None = None) -> list[Bound]:
        """The tools, as `SERVER__TOOL`; listed again after a server reported a change. Raises `ToolError` before start.

        `only` selects servers, or tools as `SERVER.TOOL`.
        """
        if self._connections and self._thread is None:
            raise ToolError("These MCP servers were not started; use them in a `with` block.")
        for connection in self._connections:
            if connection.is_stale:
                with suppress(TimeoutError, Exception):  # the old list is better than none
                    self._submit(connection.refresh()).result(REFRESHING)
        return [
            self._bound(connection, tool)
            for connection in self._connections
            for tool in connection.tools
            if is_wanted(connection.server.name, tool.name, only)
        ]

    def close(self) -> None:
        """Stop the programs and close the connections. Safe to call twice."""
        if self._thread is not None and self._thread.is_alive():
            with suppress(RuntimeError):  # the loop has just ended
                self._loop.call_soon_threadsafe(self._closing.set)
            self._thread.join(CLOSING)

    def _start(self) -> None:
        try:
            import mcp  # noqa: F401
        except ImportError:
            raise ToolError("MCP servers need more: pip install 'bough[mcp]'") from None
        quiet = logging.getLogger("mcp")  # errors are raised; log lines would disturb the terminal
        if not quiet.handlers:
            quiet.addHandler(logging.NullHandler())
        ready: Future[None] = Future()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, args=(ready,), name="mcp", daemon=True)
        self._thread.start()
        try:
            ready.result()
        except BaseException:
            self.close()
            raise

    def _work(self, ready: Future[None]) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live(ready))

    async def _live(self, ready: Future[None]) -> None:
        try:
            await asyncio.gather(*(connection.connect(self._closing) for connection in self._connections))
            ready.set_result(None)
        except BaseException as error:
            ready.set_exception(error)
            self._closing.set()
        await self._closing.wait()
        await asyncio.gather(*(connection.wait_closed() for connection in self._connections))

    async def _call(
        self, connection: ServerConnection, name: str, arguments: dict[str, Json], meta: dict[str, str] | None
    ) -> Result:
        await connection.reconnect(self._closing)
        return await connection.call(name, arguments, meta)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _bound(self, connection: ServerConnection, tool: types.Tool) -> Bound:
        name = valid_name(f"{connection.server.name}__{tool.name}")
        shown = Tool(name, tool.description or tool.title or "", tool.input_schema)

        def run(arguments: dict[str, Json], call: Call) -> Result:
            meta = encode_caller(call) if connection.name == SERVER_NAME else None
            future = self._submit(self._call(connection, tool.name, arguments, meta))
            call.stop.add_callback(future.cancel)
            try:
                return future.result()
            except CancelledError:
                raise ToolError("The call was cancelled, and the server was notified.") from None

        return Bound(shown, run, connection.server.seconds)


def is_wanted(server: str, tool: str | None, only: Collection[str] | None) -> bool:
    """Whether `only` selects a tool, or any tool of a server if `tool` is None; without a list, all are selected."""
    if only is None or server in only:
        return True
    if tool is None:
        return any(one.startswith(f"{server}.") for one in only)
    return f"{server}.{tool}" in only
