"""Read parts of a provider's payload, with errors that name the place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bough.errors import FormatError
from bough.model import Json

_MAX_POSITION = 100_000


def plain(payload: Any) -> Json:
    """The payload as dicts and lists, converted from SDK objects if needed. Raises `FormatError` for other types.

    Unset fields of SDK objects are left out, because their defaults are fields that the provider never sent.
    """
    if payload is None or isinstance(payload, (str, int, float, bytes)):
        return payload
    if isinstance(payload, (dict, Mapping)):  # dict first: asking an abstract class is slow
        return {str(key): plain(value) for key, value in payload.items()}
    if isinstance(payload, (list, tuple)):
        return [plain(item) for item in payload]
    if hasattr(payload, "model_dump"):
        # An SDK parses an unknown variant as some other type, and would warn about it here.
        if type(payload).__module__.startswith("google."):
            return payload.model_dump(mode="json", by_alias=True, exclude_none=True, warnings=False)
        return payload.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
    if hasattr(payload, "to_dict"):
        return plain(payload.to_dict())
    raise FormatError(f"A payload is made of dicts, lists or an SDK's objects, not of {type(payload).__name__!r}.")


def request_id(payload: Any) -> str | None:
    """The id of the HTTP request, which SDKs keep in an attribute of the reply, outside its JSON."""
    return text_or_none(getattr(payload, "_request_id", None))


def as_dict(value: Json, where: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise FormatError(f"{where} should be an object and is {_kind(value)}.")
    return value


def as_list(value: Json, where: str) -> list[Json]:
    if not isinstance(value, list):
        raise FormatError(f"{where} should be a list and is {_kind(value)}.")
    return value


def request_list(payload: Any, key: str) -> tuple[dict[str, Json], list[dict[str, Json]]]:
    """A whole request and the objects of its list at `key`; the request is empty if the payload is the list alone."""
    payload = plain(payload)
    request = payload if isinstance(payload, dict) else {}
    items = as_list(request.get(key) if request else payload, key)
    return request, [as_dict(item, f"{key}[{index}]") for index, item in enumerate(items)]


def optional_list(value: Json, where: str) -> list[Json]:
    """A list; empty if missing or null. Raises `FormatError` for anything else, empty strings and objects included."""
    return [] if value is None else as_list(value, where)


def as_text(value: Json, where: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{where} should be a string and is {_kind(value)}.")
    return value


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def at(value: Json, *keys: str) -> Json:
    """The value at a chain of keys, or None if one is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def count(value: Json, *keys: str) -> int | None:
    """The integer at a chain of keys; None if missing or of another type."""
    found = at(value, *keys)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def cost_of(counts: Json) -> float | None:
    """The cost in US dollars that a server reports with its counts, as OpenRouter and Perplexity do."""
    cost = at(counts, "cost")
    cost = at(cost, "total_cost") if isinstance(cost, dict) else cost
    return float(cost) if isinstance(cost, (int, float)) and not isinstance(cost, bool) and cost >= 0 else None


def position(item: dict[str, Json], key: str) -> int:
    """The index of a part in a stream event, 0 if missing. Limited, because a list is allocated up to this index."""
    place = item.get(key)
    if place is None:
        return 0
    if type(place) is not int or not 0 <= place < _MAX_POSITION:
        raise FormatError(f"{key} should be the index of a part, and is {place!r:.40}.")
    return place


def total(*counts: int | None) -> int | None:
    """The sum of the known counts; None if all are unknown."""
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


def written(value: Json) -> str:
    """JSON text of a tool call's arguments."""
    return json.dumps(value, ensure_ascii=False)


def parsed(arguments: str) -> dict[str, Json] | None:
    """A tool call's arguments as an object, or None if they are not a JSON object."""
    try:
        value = json.loads(arguments, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _kind(value: Json) -> str:
    names = {dict: "an object", list: "a list", str: "a string", type(None): "null", bool: "a boolean"}
    return names.get(type(value), f"of type {type(value).__name__!r}")
