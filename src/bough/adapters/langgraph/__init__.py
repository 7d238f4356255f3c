"""LangGraph: `graph = builder.compile(checkpointer=BoughSaver.from_conn_string("chat.db"))`, as a context manager."""

from __future__ import annotations

from bough.adapters.common import on_use

__all__ = ["AsyncBoughSaver", "BoughSaver"]

__getattr__ = on_use(__name__, {"BoughSaver": "opened", "AsyncBoughSaver": "opened"}, "langgraph")
