"""LiteLLM: `litellm.callbacks = [BoughLogger("chat.db")]`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughLogger"]

__getattr__ = on_use(__name__, {"BoughLogger": "logger"}, "litellm")
