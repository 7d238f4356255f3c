"""An MCP client asks an agent of bough's configuration: `python mcp_client.py AGENT WORDS…`."""

import asyncio
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def ask(agent: str, task: str) -> None:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "bough", "--config", "config.toml", "mcp", "agent", agent]
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        (tool,) = (await session.list_tools()).tools
        result = await session.call_tool(tool.name, {"task": task})
        print(tool.name, "says:", *(block.text for block in result.content if block.type == "text"))


asyncio.run(ask(sys.argv[1], " ".join(sys.argv[2:])))
