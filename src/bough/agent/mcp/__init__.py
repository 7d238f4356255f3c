"""The Model Context Protocol: tools of other programs for our agents, and our agents as tools for other programs."""

from bough.agent.mcp.connection import Server
from bough.agent.mcp.tool_servers import Servers

__all__ = ["Server", "Servers"]
