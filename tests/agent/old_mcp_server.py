"""An MCP server as they were in 2025: a handshake, JSON by the line, and no SDK. Its one tool grows others."""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [{"name": "plant", "description": "Grows a new tool.", "inputSchema": {"type": "object"}}]


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "old", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            name = params["arguments"]["name"]
            while name == "a line that does not end":
                sys.stdout.write("x" * 65536)
            TOOLS.append({"name": name, "inputSchema": {"type": "object"}})
            send({"method": "notifications/tools/list_changed"})
            return {"content": [{"type": "text", "text": f"planted {name}"}]}
    return None


def send(message: dict[str, Any]) -> None:
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        found = answer(request["method"], request.get("params", {}))
        error = {"error": {"code": -32601, "message": "Method not found"}}
        send({"id": request["id"], **({"result": found} if found is not None else error)})
