"""Rules of Bedrock's Converse API: 1–3 and 5–9 of docs/formats.md."""

from __future__ import annotations

from itertools import pairwise

from bough.formats.pairing import WireMessage, check_pairs, texts
from bough.formats.payload import at, request_list
from bough.formats.types import Violation
from bough.model import Json

MAX_IMAGES = 20
MAX_DOCUMENTS = 5
"""Limits of the Converse API for one message."""
RESULTS_ALONE = ("mistral.", "meta.", "cohere.", "ai21.")
"""Prefixes of models that refuse text beside tool results; their templates have no place for it."""


def check(payload: Json) -> list[Violation]:
    request, messages = request_list(payload, "messages")
    found = check_pairs([_wire_message(index, message) for index, message in enumerate(messages)], grouped=True)
    found += _check_roles(messages) + _check_tools(request, messages)
    for index, message in enumerate(messages):
        found += _check_blank(index, message) + _check_media(index, message)
        found += _check_mixture(str(request.get("modelId") or ""), index, message)
    return found


def _blocks(message: dict[str, Json]) -> list[dict[str, Json]]:
    content = message.get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _wire_message(index: int, message: dict[str, Json]) -> WireMessage:
    blocks = _blocks(message)
    calls = [at(block, "toolUse") for block in blocks if at(block, "toolUse", "type") != "server_tool_use"]
    results = [at(block, "toolResult") for block in blocks if at(block, "toolResult", "type") is None]
    return WireMessage(
        index,
        str(message.get("role")),
        texts(at(call, "toolUseId") for call in calls),
        texts(at(result, "toolUseId") for result in results),
        transparent=message.get("role") == "system",
    )


def _check_roles(messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 5: the user begins and the roles alternate, apart from system messages."""
    roles = [(index, message.get("role")) for index, message in enumerate(messages)]
    speaking = [(index, role) for index, role in roles if role != "system"]
    found = []
    if speaking and speaking[0][1] != "user":
        found.append(Violation(5, "the first message is not the user's", speaking[0][0]))
    for (_, before), (index, role) in pairwise(speaking):
        if role == before:
            found.append(Violation(5, f"two messages of the {role} in a row", index))
    return found


def _check_tools(request: dict[str, Json], messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 7: a history with tool blocks needs `toolConfig`. Needs the whole request."""
    used = any(key in block for message in messages for block in _blocks(message) for key in ("toolUse", "toolResult"))
    if request and used and not request.get("toolConfig"):
        return [Violation(7, "the history has tool blocks and the request no toolConfig")]
    return []


def _check_mixture(model: str, index: int, message: dict[str, Json]) -> list[Violation]:
    """Rule 8: no text beside tool results, for some models. Needs the whole request."""
    kinds = {key for block in _blocks(message) for key in block}
    if {"toolResult", "text"} <= kinds and any(maker in model for maker in RESULTS_ALONE):
        return [Violation(8, f"{model} takes no text beside tool results", index)]
    return []


def _check_blank(index: int, message: dict[str, Json]) -> list[Violation]:
    """Rule 6: no empty message, blank text or failed result without content."""
    found = []
    if not _blocks(message):
        found.append(Violation(6, "a message without content", index))
    for block in _blocks(message):
        if isinstance(block.get("text"), str) and not block["text"].strip():
            found.append(Violation(6, "a blank text", index))
        if at(block, "toolResult", "status") == "error" and not at(block, "toolResult", "content"):
            found.append(Violation(6, "a failed result without content", index))
    return found


def _check_media(index: int, message: dict[str, Json]) -> list[Violation]:
    """Rule 9: limits on images and documents, which are the user's; a document needs text beside it."""
    found = []
    blocks = _blocks(message)
    images = sum("image" in block for block in blocks)
    documents = sum("document" in block for block in blocks)
    if images > MAX_IMAGES or documents > MAX_DOCUMENTS:
        found.append(Violation(9, f"{images} images and {documents} documents in one message", index))
    if documents and not any("text" in block for block in blocks):
        found.append(Violation(9, "a document without text beside it", index))
    if (images or documents) and message.get("role") != "user":
        found.append(Violation(9, "images or documents that are not the user's", index))
    return found
