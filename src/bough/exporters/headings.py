"""Headings of messages, summaries of turns, and safe text, for exporters that people read."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from bough.exporters.types import ExportedConversation, MessageHeading
from bough.model import Node, TurnInfo, Usage

SPEAKERS = {"user": "User", "assistant": "Assistant", "tool_result": "Tool", "system": "Note"}


def heading_of(node: Node, conversation: ExportedConversation) -> MessageHeading:
    """Speaker and time of a message; notes for a summary, a label, an error, the status of a turn and sessions."""
    notes = []
    if node.kind == "summary":
        notes.append("summary")
    if node.label:
        notes.append(node.label)
    if node.message.error:
        notes.append("error")
    turn = conversation.turn_ending_at(node)
    if turn is not None and turn.status != "complete":
        notes.append(turn.status)
    notes += [f"session {info.key}" for info in conversation.sessions if info.head_id == node.id]
    return MessageHeading(SPEAKERS[node.role], to_minute(node.created_at), tuple(notes))


def to_minute(microseconds: int) -> str:
    """A time as `2026-11-16 08:30`, in UTC."""
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M")


def turn_usage(turn: TurnInfo) -> str:
    """Model, tokens and cost of a turn, as far as they are known."""
    return " · ".join(filter(None, [turn.model, usage_text(turn.usage)]))


def usage_text(usage: Usage) -> str:
    """Tokens and cost, as far as they are known."""
    parts = []
    if usage.input_tokens is not None or usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens or 0:,} in, {usage.output_tokens or 0:,} out")
    if usage.cost is not None:
        parts.append(f"${usage.cost:.4f}".rstrip("0").rstrip("."))
    return " · ".join(parts)


def overview(conversation: ExportedConversation) -> list[str]:
    """Facts about the whole conversation: messages, branches, time, models, tokens and cost."""
    times = [to_minute(node.created_at) for node in conversation.nodes]
    first, last = min(times), max(times)
    branches = len(conversation.leaves)
    return list(filter(None, [
        f"{len(conversation.nodes):,} message{'s' * (len(conversation.nodes) > 1)}",
        f"{branches} branches" if branches > 1 else "",
        first if first == last else f"{first} to {last} UTC",
        ", ".join(conversation.models),
        usage_text(conversation.usage),
    ]))  # fmt: skip


def pretty_json(arguments: str) -> str:
    """The arguments of a tool call, indented if they are JSON."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def encodable(text: str) -> str:
    """Text that UTF-8 and HTML can encode: NUL and lone surrogates are replaced."""
    has_surrogates = any("\ud800" <= character <= "\udfff" for character in text)
    clean = text.encode("utf-8", "replace").decode() if has_surrogates else text
    return clean.replace("\0", "\ufffd")


def displayable(text: str) -> str:
    """Like `encodable`, with bidirectional controls replaced too: they reorder the text after them."""
    return re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", encodable(text))
