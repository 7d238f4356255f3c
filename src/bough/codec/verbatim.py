"""Verbatim JSON, without storing twice what a block already holds.

A provider's reply repeats the text, the arguments and the images that bough keeps in blocks. Before such JSON is
stored, each of these is replaced by a hole that refers to the block's content; the holes are filled when it is loaded.
The result equals the original, key order included.

A stored text that begins with `~` has holes. Without them it is plain JSON.
"""

from __future__ import annotations

import json
from binascii import b2a_base64
from collections.abc import Callable, Mapping, Sequence

from bough.errors import Invalid
from bough.model import Json

HOLE = "$bough"
MARK = "~"
MIN_HOLE = 40

_encode = json.JSONEncoder(ensure_ascii=False).encode  # `json.dumps` makes one for every call

Held = Sequence[str | bytes | None]
"""The contents of a message's block rows, by position."""


def pack(value: Json, held: Held) -> str:
    """JSON text of a value, with holes where it repeats what is held. Raises `Invalid` for what is not JSON.

    Surrogates are left as they are: escaped, two halves of a character would come back as one.
    """

    def write() -> str:
        packer = _Packer(_places(held))
        packed = packer.pack(value)
        return MARK + _encode(packed) if packer.holes and not packer.clash else _encode(value)

    return _written(write)


def canonical(value: Json) -> str:
    """JSON text that does not depend on the order of keys. Raises `Invalid` for what is not JSON."""
    return _written(lambda: json.dumps(value, sort_keys=True))


def _written(write: Callable[[], str]) -> str:
    try:
        return write()
    except RecursionError:
        raise Invalid("That JSON is nested too deeply to be stored; nothing was saved.") from None
    except (TypeError, ValueError) as error:
        raise Invalid(f"That is not JSON and cannot be stored: {error}; nothing was saved.") from None


def unpack(text: str, held: Held) -> Json:
    """The value that `pack` was given."""
    if text.startswith(MARK):
        return _fill(json.loads(text[1:]), held)
    return json.loads(text)


def _places(held: Held) -> dict[str, list[Json]]:
    """The holes by the text that they replace inside JSON: the contents that are long enough."""
    places: dict[str, list[Json]] = {}
    for position, content in enumerate(held):
        if isinstance(content, bytes):
            places.setdefault(b2a_base64(content, newline=False).decode(), [position, "base64"])
        elif content is not None and len(content) >= MIN_HOLE:
            places.setdefault(content, [position])
    return places


class _Packer:
    """Copies a value, with holes."""

    def __init__(self, places: Mapping[str, list[Json]]) -> None:
        self.holes = 0
        self.clash = False
        """Whether the value itself contains something that looks like a hole: then none may be used."""
        self._places = places
        self._objects = [text for text in places if text.startswith("{")]

    def pack(self, value: Json) -> Json:
        """The value with holes. Raises `Invalid` for keys that are not strings, which JSON would convert silently."""
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, dict):
            hole = self._object(value) if value and self._objects else None
            return self._hole(hole) if hole else {self._key(key): self.pack(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.pack(item) for item in value]
        return value

    def _key(self, key: Json) -> str:
        if not isinstance(key, str):
            raise Invalid(f"JSON keys are strings, and {key!r} is not; nothing was saved.")
        self.clash = self.clash or key == HOLE
        return key

    def _hole(self, hole: list[Json]) -> Json:
        self.holes += 1
        return {HOLE: hole}

    def _string(self, value: str) -> Json:
        if hole := self._places.get(value):
            return self._hole(hole)
        if value.startswith("data:"):
            prefix, comma, body = value.partition(",")
            if (hole := self._places.get(body)) and hole[1:] == ["base64"]:
                return self._hole([*hole, prefix + comma])
        return value

    def _object(self, value: dict[str, Json]) -> list[Json] | None:
        """The hole for an object that a block holds as text: the input of a tool call."""
        start = f'{{"{next(iter(value))}"'
        if not any(text.startswith(start) for text in self._objects):
            return None  # writing out every object to compare it would cost more than the holes save
        text = _encode(value)
        hole = self._places.get(text)
        # A key that is no string is encoded like one: only decoding the text again distinguishes them.
        return [*hole, "json"] if hole and len(hole) == 1 and json.loads(text) == value else None


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
        return "".join(how[1:]) + b2a_base64(content, newline=False).decode()
    assert isinstance(content, str)
    return json.loads(content) if how == ["json"] else content
