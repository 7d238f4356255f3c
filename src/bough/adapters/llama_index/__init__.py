"""LlamaIndex: `ChatMemoryBuffer.from_defaults(chat_store=BoughChatStore(where="chat.db"), chat_store_key="c1")`."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["BoughChatStore"]

__getattr__ = on_use(__name__, {"BoughChatStore": "chat_store"}, "llama-index-core")
