"""What several tests of the loop use: a tool, a reply that calls it, and views of a session."""

from __future__ import annotations

from bough import Session, ToolResult, tool_call
from tests.agent.fake_provider import FakeReply


def roles(session: Session) -> list[str]:
    """The roles of the messages of a session."""
    return [node.role for node in session.path()]


def results(session: Session, turn: str | None = None) -> list[ToolResult]:
    """The tool results of a session, or of the path up to a turn."""
    path = session.path() if turn is None else session.store.path(session.store.turn_info(turn).last_id)
    return [result for node in path for result in node.message.results]


def girth(tree: str) -> str:
    """The girth of a tree."""
    return f"{tree}: 4.1 m"


ASK = FakeReply("I will measure it.", (tool_call("c1", "girth", {"tree": "oak"}),))
