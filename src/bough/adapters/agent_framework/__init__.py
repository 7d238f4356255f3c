"""Microsoft Agent Framework: `Agent(client, context_providers=[BoughHistoryProvider("chat.db")])`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughHistoryProvider"]

__getattr__ = on_use(__name__, {"BoughHistoryProvider": "provider"}, "agent-framework-core")
