"""Changes to Anthropic's own blocks that it would refuse in a request."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.anthropic.rules import MAX_CACHE_MARKERS
from bough.formats.mending import Mender, drop_blank, filled_result, is_blank, limit_markers, with_item_id
from bough.formats.types import Mended, Recipient
from bough.model import Block, Json, Message

REPLY_ONLY = ("parsed_output", "parsed")
"""Fields that an SDK adds to a parsed reply, and the API refuses."""
PROOFS = {"thinking": "signature", "redacted_thinking": "data"}


def mend(messages: Sequence[Message], target: Recipient) -> Mended:  # noqa: ARG001
    mender = Mender("anthropic")
    mended = mender.run(messages, _mend_block)
    limited = limit_markers(mended.messages, mender, "cache_control", MAX_CACHE_MARKERS)
    return Mended(limited, tuple(mender.losses))


def _mend_block(block: Block, mender: Mender) -> Block | None:
    item = mender.own(block)
    kind = str(item.get("type"))
    if is_blank(block):
        return drop_blank(block, mender)
    if (proof := PROOFS.get(kind)) and (not item.get(proof) or mender.message.role != "assistant"):
        mender.lose("dropped_thinking", f"{kind} without its {proof}")
        return None
    if _is_unpaired(kind, item, mender):
        mender.lose("dropped_other", f"{kind} without its counterpart")
        return None
    kept = with_item_id(mender.without(block, item, REPLY_ONLY), mender, "id", "tool_use_id")
    return filled_result(kept, mender)


def _is_unpaired(kind: str, item: dict[str, Json], mender: Mender) -> bool:
    """Whether a call of a tool of the provider lacks its result, or a result its call, in a reply that is complete.

    A reply that paused has such a call at its end, and is continued by the request if it is the last message.
    """
    if kind in ("server_tool_use", "mcp_tool_use"):
        return not any(_items(mender, "tool_use_id", item.get("id"))) and not _pauses(mender)
    if "tool_use_id" in item and kind not in ("tool_result", "None"):
        return not any(_items(mender, "id", item["tool_use_id"]))
    return False


def _pauses(mender: Mender) -> bool:
    envelope = mender.message.envelope
    reply = envelope.get("reply") if isinstance(envelope, dict) else None
    return isinstance(reply, dict) and reply.get("stop_reason") == "pause_turn"


def _items(mender: Mender, key: str, value: Json) -> list[Json]:
    items = (mender.own(block) for block in mender.message.blocks)
    return [item for item in items if value is not None and item.get(key) == value]
