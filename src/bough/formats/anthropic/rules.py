"""Rules of Anthropic's Messages API: 1–3, 5, 6, 10 and 13–15 of docs/formats.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.formats.pairing import WireMessage, check_pairs, merged, texts
from bough.formats.payload import request_list
from bough.formats.types import Violation
from bough.model import Json

MAX_MESSAGES = 100_000
MAX_CACHE_MARKERS = 4
"""Limits of the Messages API for one request."""
PREFILLS = re.compile(r"claude-(3|.*-4-[015](-|$)|.*-4-20)")
"""Models that continue an assistant message at the end of a request (prefill); later models refuse it."""


def check(payload: Json) -> list[Violation]:
    request, messages = request_list(payload, "messages")
    wire = [_wire_message(index, message) for index, message in enumerate(messages)]
    found = check_pairs(merged(wire, ("assistant",)), grouped=True)
    found += _check_start(messages) + _check_size(messages)
    for index, message in enumerate(messages):
        found += _check_blank(index, message, last=index == len(messages) - 1)
        found += _check_thinking(index, message)
        found += _check_compaction(index, message)
    return found + _check_prefill(request, messages)


def blocks_of(message: dict[str, Json]) -> list[dict[str, Json]]:
    """The blocks of a message, whose content may also be a string."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _wire_message(index: int, message: dict[str, Json]) -> WireMessage:
    blocks = blocks_of(message)
    return WireMessage(
        index,
        str(message.get("role")),
        texts(block.get("id") for block in blocks if block.get("type") == "tool_use"),
        texts(block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"),
        transparent=message.get("role") == "system",
    )


def _check_start(messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 5: the user begins. Anthropic merges consecutive messages of one role, so they need not alternate."""
    first = next((message for message in messages if message.get("role") != "system"), None)
    if first is not None and first.get("role") != "user":
        return [Violation(5, "the first message is not the user's", 0)]
    return []


def _check_size(messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 15: limits on messages and cache markers."""
    found = []
    if len(messages) > MAX_MESSAGES:
        found.append(Violation(15, f"more than {MAX_MESSAGES} messages"))
    markers = sum(1 for message in messages for block in _nested(message) if block.get("cache_control"))
    if markers > MAX_CACHE_MARKERS:
        found.append(Violation(15, f"{markers} cache markers, and {MAX_CACHE_MARKERS} are allowed"))
    return found


def _nested(message: dict[str, Json]) -> Iterator[dict[str, Json]]:
    for block in blocks_of(message):
        yield block
        yield from blocks_of(block)


def _check_blank(index: int, message: dict[str, Json], last: bool) -> list[Violation]:
    """Rule 6: no blank text, no failed result without content, no empty message except a final assistant message."""
    found = []
    blocks = blocks_of(message)
    if not blocks and not (last and message.get("role") == "assistant"):
        found.append(Violation(6, "a message without content", index))
    for block in blocks:
        if block.get("type") == "text" and not str(block.get("text") or "").strip():
            found.append(Violation(6, "a blank text", index))
        if block.get("type") == "tool_result" and block.get("is_error") and not block.get("content"):
            found.append(Violation(6, "a failed result without content", index))
    return found


def _check_thinking(index: int, message: dict[str, Json]) -> list[Violation]:
    """Rule 10: thinking has its signature, which is verified, and is the assistant's."""
    found = []
    signatures = {"thinking": "signature", "redacted_thinking": "data"}
    for block in blocks_of(message):
        signature = signatures.get(str(block.get("type")))
        if signature and (not block.get(signature) or message.get("role") != "assistant"):
            found.append(Violation(10, f"{block['type']} without its {signature}, or not the assistant's", index))
    return found


def _check_compaction(index: int, message: dict[str, Json]) -> list[Violation]:
    """Rule 14: a compaction block is the only one and the first, because it replaces everything before it."""
    places = [place for place, block in enumerate(blocks_of(message)) if block.get("type") == "compaction"]
    if places and places != [0]:
        return [Violation(14, "a compaction block is not the one at the start of its message", index)]
    return []


def _check_prefill(request: dict[str, Json], messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 13: no assistant message at the end. Needs the whole request, because it depends on the model."""
    model = str(request.get("model") or "")
    refuses = "claude" in model and not PREFILLS.search(model)
    if refuses and messages and messages[-1].get("role") == "assistant":
        return [Violation(13, f"{model} does not continue an assistant's message", len(messages) - 1)]
    return []
