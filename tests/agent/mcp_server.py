"""A real MCP server with tools of every kind: over stdio, or over HTTP when it is given a port."""

from __future__ import annotations

import base64
import os
import sys
import threading
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import (
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

server = MCPServer("forest")


@server.tool()
def girth(tree: str) -> str:
    """How far it is around a tree."""
    print(f"measuring {tree}", file=sys.stderr, flush=True)
    return f"{tree}: 4.1 m"


@server.tool()
def blunt() -> str:
    """Always fails."""
    raise ToolError("the saw is blunt")


@server.tool()
def many() -> CallToolResult:
    """Answers with everything that a result can hold."""
    png = base64.b64encode(b"\x89PNG").decode()
    pdf = base64.b64encode(b"%PDF").decode()
    return CallToolResult(
        content=[
            TextContent(type="text", text="see"),
            ImageContent(type="image", data=png, mime_type="image/png"),
            EmbeddedResource(type="resource", resource=TextResourceContents(uri="file:///a.txt", text="leaf")),
            EmbeddedResource(
                type="resource",
                resource=BlobResourceContents(uri="file:///a.pdf", mime_type="application/pdf", blob=pdf),
            ),
            ResourceLink(type="resource_link", name="map", uri="file:///map", description="Where it stands"),
        ]
    )


@server.tool()
def surroundings(name: str) -> dict[str, Any]:
    """What the process sees around it."""
    return {"value": os.environ.get(name), "directory": os.getcwd()}


@server.tool()
def told(ctx: Context) -> str:
    """What the caller told about itself."""
    meta: Any = ctx.request_context.meta or {}
    return ",".join(sorted(key for key in meta if key.startswith("bough/"))) or "nothing"


@server.tool()
def die() -> str:
    """Ends the server in the middle of a call."""
    print("a branch fell on me", file=sys.stderr, flush=True)
    os._exit(7)


@server.tool()
def hang(directory: str) -> str:
    """Never answers, once it has said that it was called."""
    open(os.path.join(directory, "called"), "w").close()
    threading.Event().wait(600)
    return "never"


@server.tool()
async def plant(name: str, ctx: Context) -> str:
    """Grows a new tool."""

    def grown() -> str:
        return f"I am {name}"

    server.add_tool(grown, name=name, description=f"A tool that was planted: {name}")
    await ctx.notify_tools_changed()
    return "planted"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
    else:
        print("the forest is awake", file=sys.stderr, flush=True)
        if place := os.environ.get("PROCESS"):
            Path(place).write_text(str(os.getpid()))
        server.run("stdio")
