"""Pydantic AI: `store = BoughConversationStore("chat.db")`, then `load`, `save`, `fork` and `branch`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughConversationStore"]

__getattr__ = on_use(__name__, {"BoughConversationStore": "store"}, "pydantic-ai-slim")
