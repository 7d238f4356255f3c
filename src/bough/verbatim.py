"""JSON kept verbatim, without storing twice what a block already holds.

A provider's reply repeats the text, the arguments and the images that bough keeps in blocks. Before such JSON is
stored, each of these is replaced by a hole that names the block's content; when it is loaded the holes are filled
again. The result is equal to what came, key order included.

A stored text that begins with `~` has holes. Without them it is plain JSON.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence

from bough.errors import Invalid
from bough.model import Json

HOLE = "$bough"
MARK = "~"
WORTH_A_HOLE = 40

Held = Sequence[str | bytes | None]
"""The contents of a message's block rows, by position."""


def pack(value: Json, held: Held) -> str:
    """JSON text of a value, with holes where it repeats what is held. Raises `Invalid` for what is not JSON.

    Surrogates are left as they are: escaped, two halves of a character would come back as one.
    """
    try:
        places = _places(held)
        if _check(value) and places:
            packed, holes = _dig(value, places)
            if holes:
                return MARK + json.dumps(packed, ensure_ascii=False)
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise Invalid("That JSON is nested too deeply to be stored; nothing was saved.") from None
    except (TypeError, ValueError) as error:
        raise Invalid(f"That is not JSON and cannot be stored: {error}; nothing was saved.") from None


def unpack(text: str, held: Held) -> Json:
    """The value that `pack` was given."""
    if text.startswith(MARK):
        return _fill(json.loads(text[1:]), held)
    return json.loads(text)


def _check(value: Json) -> bool:
    """Whether holes may be used: not where the value itself has something that looks like one.

    Refuses what JSON would silently turn into something else: keys that are not strings.
    """
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise Invalid(f"JSON keys are strings, and {key!r} is not; nothing was saved.")
        free = [_check(item) for item in value.values()]
        return all(free) and HOLE not in value
    if isinstance(value, (list, tuple)):
        free = [_check(item) for item in value]
        return all(free)
    return True


def _places(held: Held) -> dict[str, list[Json]]:
    """What each long enough content looks like inside JSON, and the hole that stands for it."""
    places: dict[str, list[Json]] = {}
    for position, content in enumerate(held):
        if isinstance(content, bytes):
            places.setdefault(b64encode(content).decode(), [position, "base64"])
        elif content is not None and len(content) >= WORTH_A_HOLE:
            places.setdefault(content, [position])
    return places


def _dig(value: Json, places: Mapping[str, list[Json]]) -> tuple[Json, int]:
    """The value with its holes, and how many there are."""
    if isinstance(value, str):
        if hole := places.get(value):
            return {HOLE: hole}, 1
        if value.startswith("data:"):
            prefix, comma, body = value.partition(",")
            if (hole := places.get(body)) and hole[1:] == ["base64"]:
                return {HOLE: [*hole, prefix + comma]}, 1
        return value, 0
    if isinstance(value, dict):
        if value and (hole := _arguments(value, places)):
            return {HOLE: hole}, 1
        dug = {key: _dig(item, places) for key, item in value.items()}
        return {key: item for key, (item, _) in dug.items()}, sum(holes for _, holes in dug.values())
    if isinstance(value, (list, tuple)):
        items = [_dig(item, places) for item in value]
        return [item for item, _ in items], sum(holes for _, holes in items)
    return value, 0


def _arguments(value: dict[str, Json], places: Mapping[str, list[Json]]) -> list[Json] | None:
    """The hole for an object that a block holds as text: the input of a tool call."""
    first = next(iter(value))
    if not any(text.startswith(f'{{"{first}"') for text in places):
        return None  # writing out every object to compare it would cost more than the holes save
    hole = places.get(json.dumps(value, ensure_ascii=False))
    return [*hole, "json"] if hole and len(hole) == 1 else None


def _fill(value: Json, held: Held) -> Json:
    if isinstance(value, list):
        return [_fill(item, held) for item in value]
    if not isinstance(value, dict):
        return value
    if HOLE not in value:
        return {key: _fill(item, held) for key, item in value.items()}
    position, *how = value[HOLE]
    content = held[position]
    if how[:1] == ["base64"]:
        assert isinstance(content, bytes)
        return "".join(how[1:]) + b64encode(content).decode()
    assert isinstance(content, str)
    return json.loads(content) if how == ["json"] else content
