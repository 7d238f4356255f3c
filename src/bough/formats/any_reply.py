"""Decode a reply of which not even the format is known, and never refuse it."""

from __future__ import annotations

from warnings import warn

from bough.errors import FormatError, FormatWarning
from bough.formats import get
from bough.formats.content import UNREADABLE
from bough.formats.detection import detect
from bough.formats.payload import plain
from bough.formats.types import Decoded
from bough.model import Json, Message, Other

_MALFORMED = (FormatError, TypeError, ValueError, LookupError, AttributeError)


def decode_any(payload: Json) -> tuple[str | None, Decoded]:
    kept = plain(payload)
    if not isinstance(kept, (dict, list)):
        raise FormatError(f"A reply is an object or a list, not {kept!r:.80}; nothing was added.")
    name = detect(payload)
    if name is None:
        return None, _whole(kept, "No format knows this reply")
    try:
        decoded = get(name).decode(payload)
    except _MALFORMED as error:
        return name, _whole(kept, f"This reply was taken for {name} and cannot be read: {error}")
    blocks = [block for message in decoded.messages for block in message.blocks]
    if any(isinstance(block, Other) and UNREADABLE in (block.raw or ()) for block in blocks):
        _warn(f"A part of this reply of {name} cannot be read")
    return name, decoded


def _whole(payload: Json, why: str) -> Decoded:
    """The payload as one message with one block that bough does not understand."""
    _warn(why)
    role = payload.get("role") if isinstance(payload, dict) else None
    block = Other("reply", {UNREADABLE: payload})
    return Decoded((Message("user" if role == "user" else "assistant", (block,)),))


def _warn(why: str) -> None:
    warn(f"{why}; it is kept as it came, and left out of requests.", FormatWarning, stacklevel=4)
