"""Strands Agents: `Agent(session_manager=BoughSessionManager("c1", "chat.db"))`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughSessionManager", "BoughSessionRepository"]

__getattr__ = on_use(
    __name__, {"BoughSessionManager": "repository", "BoughSessionRepository": "repository"}, "strands-agents"
)
