"""Arguments of a function call that Gemini streams value by value.

Each chunk has `partialArgs`, a list of `{jsonPath, stringValue | numberValue | boolValue | nullValue, willContinue}`; a
string that will continue grows by the next value of the same path. `willContinue` of the call says that more follows.
"""

from __future__ import annotations

import re

from bough.formats.payload import at
from bough.model import Json

_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\[\"((?:[^\"\\]|\\.)*)\"\]")
_VALUES = ("stringValue", "numberValue", "boolValue")
_MAX_INDEX = 100_000


def is_partial_call(part: Json) -> bool:
    """Whether more of this call follows."""
    return bool(at(part, "functionCall", "willContinue"))


def grown_call(part: dict[str, Json], more: dict[str, Json]) -> dict[str, Json]:
    """The part of a call with the next chunk of it; `part` is empty for the first chunk."""
    before, chunk = at(part, "functionCall") or {}, more["functionCall"]
    if not isinstance(chunk, dict) or not (part or chunk.keys() & {"partialArgs", "willContinue"}):
        return more
    call = {**before, **{key: value for key, value in chunk.items() if key not in ("partialArgs", "willContinue")}}
    pieces = chunk.get("partialArgs")
    if isinstance(pieces, list):
        call["args"] = _with_pieces(call.get("args") or {}, [piece for piece in pieces if isinstance(piece, dict)])
    if chunk.get("willContinue"):
        call["willContinue"] = True
    else:
        call.pop("willContinue", None)
    return {**part, **more, "functionCall": call}


def _with_pieces(args: Json, pieces: list[dict[str, Json]]) -> Json:
    for piece in pieces:
        steps = [_step(found) for found in _STEP.finditer(str(piece.get("jsonPath") or "$"))]
        args = _set(args, steps, piece)
    return args


def _step(found: re.Match[str]) -> str | int:
    name, index, single, double = found.groups()
    return int(index) if index is not None else str(name or single or double or "")


def _set(value: Json, steps: list[str | int], piece: dict[str, Json]) -> Json:
    """The value with a piece set at a path; objects and lists on the way are made."""
    if not steps:
        new = next((piece[key] for key in _VALUES if key in piece), None)
        return value + new if isinstance(value, str) and isinstance(new, str) else new
    first, rest = steps[0], steps[1:]
    if isinstance(first, int):
        items = list(value) if isinstance(value, list) else []
        place = min(first, _MAX_INDEX)
        items += [None] * (place + 1 - len(items))
        items[place] = _set(items[place], rest, piece)
        return items
    fields = dict(value) if isinstance(value, dict) else {}
    fields[first] = _set(fields.get(first), rest, piece)
    return fields
