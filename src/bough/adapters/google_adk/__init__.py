"""Google ADK: `Runner(app_name="a", agent=agent, session_service=BoughSessionService("chat.db"))`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughSessionService"]

__getattr__ = on_use(__name__, {"BoughSessionService": "service"}, "google-adk")
