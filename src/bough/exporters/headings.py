"""How exporters for people head a message, and sum up a turn."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from bough.exporters.types import Exported, Mark
from bough.model import Node, TurnInfo, Usage

WHO = {"user": "User", "assistant": "Assistant", "tool_result": "Tool", "system": "Note"}


def mark(node: Node, told: Exported) -> Mark:
    """Who speaks, when, and whether it is a summary, a subagent's, an error, or the end of what was put aside."""
    notes = []
    if node.kind == "summary":
        notes.append("summary")
    if node.label:
        notes.append(node.label)
    if node.message.error:
        notes.append("error")
    turn = told.closing(node)
    if turn is not None and turn.status != "complete":
        notes.append(turn.status)
    notes += [f"session {info.key}" for info in told.sessions if info.head_id == node.id]
    return Mark(WHO[node.role], moment(node.created_at), tuple(notes))


def moment(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC).strftime("%Y-%m-%d %H:%M")


def iso(microseconds: int) -> str:
    return datetime.fromtimestamp(microseconds / 1_000_000, UTC).isoformat().replace("+00:00", "Z")


def sum_of(turn: TurnInfo) -> str:
    """The model, the tokens and the cost of a turn, as far as they are known."""
    return " · ".join(filter(None, [turn.model, counts(turn.usage)]))


def counts(usage: Usage) -> str:
    """Tokens and cost, as far as they are known."""
    said = []
    if usage.input_tokens is not None or usage.output_tokens is not None:
        said.append(f"{usage.input_tokens or 0:,} in, {usage.output_tokens or 0:,} out")
    if usage.cost is not None:
        said.append(f"${usage.cost:.4f}".rstrip("0").rstrip("."))
    return " · ".join(said)


def facts(told: Exported) -> list[str]:
    """What the head of the page says of the whole conversation."""
    first, last = min(node.created_at for node in told.nodes), max(node.created_at for node in told.nodes)
    branches = len(told.leaves)
    return list(filter(None, [
        f"{len(told.nodes):,} message{'s' * (len(told.nodes) > 1)}",
        f"{branches} branches" if branches > 1 else "",
        moment(first) if moment(first) == moment(last) else f"{moment(first)} to {moment(last)} UTC",
        ", ".join(told.models),
        counts(told.usage),
    ]))  # fmt: skip


def indented(arguments: str) -> str:
    """The arguments of a call, laid out to be read, if they are JSON."""
    try:
        return json.dumps(json.loads(arguments), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return arguments


def shown(text: str) -> str:
    """Text that can stand in a file: what UTF-8 or a page cannot hold is replaced by the sign for that."""
    clean = text.encode("utf-8", "replace").decode() if any("\ud800" <= sign <= "\udfff" for sign in text) else text
    return clean.replace("\0", "\ufffd")


def legible(text: str) -> str:
    """Text for people: what would turn the words after it around is shown as a sign, and turns nothing."""
    return re.sub("[\u202a-\u202e\u2066-\u2069]", "\ufffd", shown(text))
