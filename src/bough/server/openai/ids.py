"""Ids of responses, conversations, completions and items, which sort by the time they were made at."""

from __future__ import annotations

import secrets
import time

PREFIXES = {
    "message": "msg", "reasoning": "rs", "function_call": "fc", "function_call_output": "fco",
    "custom_tool_call": "ctc", "custom_tool_call_output": "ctco", "mcp_call": "mcp", "compaction": "cmp",
}  # fmt: skip
"""Of the ids of items, by type."""


def mint(prefix: str) -> str:
    """A new id: the time in microseconds, and 48 random bits."""
    return f"{prefix}_{time.time_ns() // 1000:014x}{secrets.token_hex(6)}"


def item_id(kind: str, of: str, position: int) -> str:
    """The id of the item at a position of a response, or of a message."""
    return f"{prefix_of(kind)}_{of.rpartition('_')[2]}_{position}"


def prefix_of(kind: str) -> str:
    """The prefix of the ids of items of a type."""
    return PREFIXES.get(kind, "item")
