"""Model Context Protocol: tools of MCP servers for agents, and agents as tools of an MCP server."""

from bough.agent.mcp.connection import Server
from bough.agent.mcp.tool_servers import Servers

__all__ = ["Server", "Servers"]
