"""MCP server with one agent as its tool, over stdio. Every run is stored."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bough.agent.delegates import session_for, task_of, tool_for, work_on
from bough.agent.limits import Stop
from bough.agent.mcp.call_meta import SERVER_NAME, Caller, decode_caller
from bough.agent.tools import Result
from bough.agent.types import Agent
from bough.errors import BoughError, ToolError
from bough.model import Json, Text, ids, keys

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import CallToolResult

    from bough.session import Session
    from bough.store import Store

ENDING = 5.0
"""Seconds that a cancelled run has to interrupt its turn."""


def serve(agent: Agent, store: Store) -> None:
    """Serve one agent as one tool on stdin and stdout, until stdin ends. Raises `ToolError` without `bough[mcp]`."""
    try:
        import anyio
        from mcp.server.stdio import stdio_server
    except ImportError:
        raise ToolError("Serving over MCP needs more: pip install 'bough[mcp]'") from None
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    server = server_of(agent, store)

    async def talk() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(talk)


def server_of(agent: Agent, store: Store) -> Server[Any]:
    """The server of an agent, not yet connected."""
    import anyio
    from mcp.server.lowlevel import Server
    from mcp.types import ListToolsResult, Tool

    import bough

    shown = tool_for(agent)
    offered = Tool(name=shown.name, description=shown.description, input_schema=shown.parameters)

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:  # noqa: ARG001
        return ListToolsResult(tools=[offered])

    async def call_tool(ctx: Any, params: Any) -> CallToolResult:
        stop, done = Stop(), threading.Event()

        def work() -> CallToolResult:
            try:
                return handle_call(agent, store, params.name, params.arguments or {}, ctx.meta, stop)
            finally:
                done.set()

        try:
            return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
        except anyio.get_cancelled_exc_class():
            stop.set(by_user=False)  # cancelled or disconnected; the run gets time to interrupt its turn
            with anyio.move_on_after(ENDING, shield=True):
                await anyio.to_thread.run_sync(done.wait, abandon_on_cancel=True)
            raise

    return Server(
        SERVER_NAME, version=bough.__version__, title=agent.name, on_list_tools=list_tools, on_call_tool=call_tool
    )


def handle_call(
    agent: Agent, store: Store, name: str, arguments: dict[str, Json], meta: Mapping[str, Json] | None, stop: Stop
) -> CallToolResult:
    """Run a task in a session of its own. Errors become the result of the call."""
    try:
        if name != tool_for(agent).name:
            raise ToolError(f"There is no tool {name!r:.80}. There is: {tool_for(agent).name}.")
        task = task_of(arguments)
        return encode_result(work_on(agent, session_of(agent, store, decode_caller(meta)), task, stop))
    except BoughError as problem:
        return encode_result(Result.failed(str(problem)))


def session_of(agent: Agent, store: Store, caller: Caller) -> Session:
    """A session for one run, linked to the calling session if that is in this store."""
    if caller.session is not None and store.find_session(caller.session) is not None:
        message = store.find_id(caller.message) if caller.message else None
        return session_for(agent, store.session(caller.session), message, caller.call)
    label = keys.subagent_label(agent.name, ids.mint(8))
    session = store.session(label, agent=agent.name)
    session.label = label
    return session


def encode_result(result: Result) -> CallToolResult:
    """Encode a result for MCP, with its session and turn in `_meta`."""
    from mcp.types import CallToolResult, TextContent

    content = [TextContent(type="text", text=part.text) for part in result.content if isinstance(part, Text)]
    where = (result.extra or {}).get("bough", {})
    meta: Any = {f"{SERVER_NAME}/{key}": one for key, one in where.items()} or None
    return CallToolResult(content=list(content), is_error=result.error, _meta=meta)
