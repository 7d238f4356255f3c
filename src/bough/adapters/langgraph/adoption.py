"""Checkpoints of dialogs that another program has led: through another SDK, by a fork, by moving the session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from langgraph.checkpoint.base import CheckpointTuple

from bough.adapters.common import json_of
from bough.model import Document

ADOPTED = "00000000-0000-6000-8000-"
"""How the id of a checkpoint begins that stands for a node; no other one is as old."""


def node(id: str) -> str | None:
    """The node that such an id stands for."""
    return bytes.fromhex(id.removeprefix(ADOPTED)).decode() if id.startswith(ADOPTED) else None


def is_due(document: Document | None, id: str | None, head: str | None) -> bool:
    """Whether the dialog of a session is not that of its newest checkpoint, or an id stands for a node."""
    if document is None or id:
        return document is None and head is not None
    kept = json_of(document)["values"].get("messages")
    if kept is not None and kept[0] != "path":
        return False
    return head != (kept[1] if kept else None)


def first(thread: str, head: str | None, messages: list[Any]) -> CheckpointTuple:
    """A checkpoint for a thread that has none."""
    id = ADOPTED + (head or "").encode().hex()
    checkpoint = {
        "v": 4,
        "id": id,
        "ts": datetime.now(UTC).isoformat(),
        "channel_values": {"messages": messages},
        "channel_versions": {"messages": 1},
        "versions_seen": {},
        "updated_channels": ["messages"],
    }
    config = {"configurable": {"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": id}}
    return CheckpointTuple(config, checkpoint, {"source": "update", "step": -1, "parents": {}}, None, [])


def continued(found: CheckpointTuple, messages: list[Any]) -> CheckpointTuple:
    """A checkpoint with another dialog. What its tasks have written since belongs to the dialog that it had."""
    checkpoint = found.checkpoint
    if messages or "messages" in checkpoint["channel_versions"]:
        checkpoint["channel_values"]["messages"] = messages
        checkpoint["channel_versions"].setdefault("messages", 1)
    return found._replace(pending_writes=[])
