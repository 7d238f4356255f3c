"""The declarations of the tools: what a model pays for at every request, so they are short."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bough.model.values import value
from bough.storage.replies import GROUPS

ID = {"type": "string", "description": "message id or session key"}
BUDGET = {"type": "integer", "description": "tokens", "default": 1500, "minimum": 50, "maximum": 50000}
LIMIT = {"type": "integer", "default": 8, "minimum": 1, "maximum": 50}
CURSOR = {"type": "string", "description": "from the last line of the page before"}


@value
class HistoryTool:
    """One tool, as it is declared."""

    name: str
    about: str
    takes: dict[str, Any]
    required: tuple[str, ...] = ()
    scope: str = "read"

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments."""
        rest = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": self.takes, "additionalProperties": False, **rest}


TOOLS = (
    HistoryTool("search", "Find messages in the stored conversations of all programs, also in abandoned branches. "
        'Words must all occur; "phrase", -word, word*, and role: model: source: project: tool: label: in:SESSION '
        "before:/after:DATE|7d has:error|image is:failed. One line a hit: id date source·project [role] words.",
        {"q": {"type": "string"}, "limit": LIMIT, "best": {"type": "boolean", "description": "best first, not newest"},
         "all": {"type": "boolean", "description": "also conversations in use here now"}, "cursor": CURSOR}, ("q",)),
    HistoryTool("read", "Read a conversation: around a message, or of a session its end, or from a number on.",
        {"id": ID, "from": {"type": "integer", "minimum": 1, "description": "number of the first message"},
         "budget": BUDGET, "parts": {"enum": ["text", "tools", "all"], "default": "text"}}, ("id",)),
    HistoryTool("tree", "Outline the tree of a conversation: its branches, with ids to read or compare.",
        {"id": ID, "depth": {"type": "integer", "minimum": 0, "default": 6}}, ("id",)),
    HistoryTool("sessions", "List conversations, the last used first.",
        {"source": {"type": "string", "description": "claude-code, codex, cli …"}, "directory": {"type": "string"},
         "label": {"type": "string"}, "limit": LIMIT, "cursor": CURSOR}),
    HistoryTool("usage", "Tokens and cost.",
        {"by": {"enum": list(GROUPS)}, "session": {"type": "string"},
         "since": {"type": "string", "description": "DATE or 7d"}}),
    HistoryTool("compare", "Compare two branches or answers: what they share, and what each has after it.",
        {"a": ID, "b": ID, "budget": BUDGET}, ("a", "b")),
    HistoryTool("fork", "Create a session that continues at a message; nothing is copied.",
        {"id": ID, "title": {"type": "string"}}, ("id",), "write"),
    HistoryTool("label", "Put a label on a message, or take it off without text.",
        {"id": ID, "text": {"type": "string"}}, ("id",), "write"),
    HistoryTool("ask", "Ask a model in a branch at a message; the answer is stored there.",
        {"id": ID, "text": {"type": "string"}, "model": {"type": "string", "description": "PROVIDER:MODEL"}},
        ("id", "text"), "run"),
)  # fmt: skip


def offered(scopes: Iterable[str]) -> dict[str, HistoryTool]:
    """The tools for somebody with these scopes, by name."""
    allowed = set(scopes)
    return {tool.name: tool for tool in TOOLS if tool.scope in allowed}
