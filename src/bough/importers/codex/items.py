"""Decode one line of a Codex rollout, in any version of the format."""

from __future__ import annotations

import re
from typing import NamedTuple

from bough.errors import FormatError
from bough.formats.openai_responses.calls import OUTPUTS
from bough.formats.openai_responses.decode import FAMILY, decode_items
from bough.formats.payload import at, text_or_none, written
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_iso
from bough.model import Block, Json, Message, Other, Text, ToolResult

ENVELOPES = {
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "compacted",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "security_risk_score",
    "token_usage_record",
}
_CONTEXT = re.compile(
    r"\s*(<(environment_context|user_instructions|turn_aborted|user_shell_command|skill|subagent_notification)\b"
    r"|# AGENTS\.md instructions)"
)


class Event(NamedTuple):
    """A line, independent of the version of the format."""

    kind: str
    payload: dict[str, Json]
    time: int | None
    ordinal: int | None


def read_event(record: Json) -> Event | None:
    """The event of a line; None for a marker without content, kind `unknown` for a line that is not of Codex."""
    if not isinstance(record, dict):
        return Event("unknown", {}, None, None)
    kind, payload, ordinal = record.get("type"), record.get("payload"), record.get("ordinal")
    time, number = from_iso(record.get("timestamp")), ordinal if isinstance(ordinal, int) else None
    if isinstance(kind, str) and isinstance(payload, dict):
        return Event(kind if kind in ENVELOPES else "unknown", payload, time, number)
    if "record_type" in record:
        return None
    if isinstance(kind, str):
        return Event("response_item", record, None, None)
    return Event("session_meta" if "id" in record and time is not None else "unknown", record, time, None)


def read_item(item: dict[str, Json]) -> Message:
    """The message of an item, or the part of one."""
    try:
        return decode_items([item], "rollout")[0]
    except FormatError:
        block = _decode_leniently(item)
        return Message("tool_result" if isinstance(block, ToolResult) else "assistant", (block,))


def _decode_leniently(item: dict[str, Json]) -> Block:
    raw, call_id = {FAMILY: item}, text_or_none(item.get("call_id"))
    if text_or_none(item.get("type")) in OUTPUTS and call_id is not None:
        output = item.get("output")
        text = at(output, "content")
        content = text if isinstance(text, str) else written(output)
        return ToolResult(call_id, (Text(content),), at(output, "success") is False, raw=raw)
    return Other(str(item.get("type")), raw)


def is_human(message: Message, item: dict[str, Json]) -> bool:
    """Whether a user wrote it: Codex also sends context to the model as user messages."""
    kinds = at(item, "internal_chat_message_metadata_passthrough", "content_item_kinds")
    if isinstance(kinds, list) and kinds:  # newer versions mark it
        return message.role == "user" and any(str(kind).startswith("user.") for kind in kinds)
    return message.role == "user" and not _CONTEXT.match(message.text)


def chained_id(parent: str, item: Json) -> str:
    """An id for an item without one, from its content and its parent's id: a replay gets the same ids."""
    return next(chained([item], before=parent))
