"""Rules of Gemini's generateContent: 1, 2, 4–6 and 12 of docs/formats.md."""

from __future__ import annotations

import re

from bough.formats.gemini.decode import field
from bough.formats.pairing import WireMessage, check_pairs, merged
from bough.formats.payload import at, request_list
from bough.formats.types import Violation
from bough.model import Json


def check(payload: Json, model: str | None = None) -> list[Violation]:
    request, contents = request_list(payload, "contents")
    wire = [_wire_message(index, content) for index, content in enumerate(contents)]
    found = check_pairs(merged(wire, ("user", "model")), grouped=False)
    found += _check_roles(contents) + _check_signatures(str(request.get("model") or model or ""), contents)
    for index, content in enumerate(contents):
        if not _parts(content):
            found.append(Violation(6, "a content without parts", index))
    return found


def _parts(content: dict[str, Json]) -> list[dict[str, Json]]:
    parts = content.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _wire_message(index: int, content: dict[str, Json]) -> WireMessage:
    calls = (field(part, "functionCall") for part in _parts(content))
    results = (field(part, "functionResponse") for part in _parts(content))
    return WireMessage(
        index,
        _role(content),
        tuple(_key(call) for call in calls if call is not None),
        tuple(_key(result) for result in results if result is not None),
    )


def _key(body: Json) -> str:
    """The key that pairs a call with its response: the id if there is one, else the function's name."""
    return str(at(body, "id") or f"function {at(body, 'name')}")


def _role(content: dict[str, Json]) -> str:
    return "model" if content.get("role") == "model" else "user"


def _check_roles(contents: list[dict[str, Json]]) -> list[Violation]:
    """Rules 4 and 5: the user begins, so that every call follows a turn of the user."""
    if not contents or _role(contents[0]) == "user":
        return []
    found = [Violation(5, "the first content is not the user's", 0)]
    if _calls(contents[0]):
        found.append(Violation(4, "a call that follows no turn of the user", 0))
    return found


def _calls(content: dict[str, Json]) -> list[dict[str, Json]]:
    return [part for part in _parts(content) if field(part, "functionCall") is not None]


def _check_signatures(model: str, contents: list[dict[str, Json]]) -> list[Violation]:
    """Rule 12: the first call of each reply in the current turn has its thought signature.

    Gemini 3 and later refuse requests without it. If the model is unknown, any signature means such a model.
    """
    signed = any(field(part, "thoughtSignature") for content in contents for part in _calls(content))
    if not needs_signatures(model, signed):
        return []
    found = []
    for index in range(_turn_start(contents), len(contents)):
        calls = _calls(contents[index])
        if calls and not field(calls[0], "thoughtSignature"):
            found.append(Violation(12, "a call of this turn without its thought signature", index))
    return found


def needs_signatures(model: str | None, signed: bool) -> bool:
    """Whether the model refuses calls without a signature. An unknown one does if any is signed."""
    version = re.search(r"gemini-(\d+)", model or "")
    return int(version[1]) >= 3 if version else signed


def _turn_start(contents: list[dict[str, Json]]) -> int:
    """Index of the newest user content with text, not only tool results."""
    for index in range(len(contents) - 1, -1, -1):
        if _role(contents[index]) == "user" and any("text" in part for part in _parts(contents[index])):
            return index
    return 0
