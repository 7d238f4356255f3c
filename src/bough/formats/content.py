"""Content that is a string, a list of parts, or missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bough.errors import FormatError
from bough.formats.payload import as_dict, as_list
from bough.model import Json, Other, Text

T = TypeVar("T")
UNREADABLE = "unreadable"
"""The family in the `raw` of a block that its format could not read: it is kept, and sent to no provider."""


def decode_content(content: Json, where: str, decode_part: Callable[[dict[str, Json], str], T]) -> list[T | Text]:
    """The blocks of some content. A string is one text; `where` names the place for error messages."""
    if content is None:
        return []
    if isinstance(content, str):
        return [Text(content)]
    return [
        decode_part(as_dict(part, f"{where}[{position}]"), f"{where}[{position}]")
        for position, part in enumerate(as_list(content, where))
    ]


def decode_reply_content(
    content: Json, where: str, decode_part: Callable[[dict[str, Json], str], T]
) -> list[T | Text | Other]:
    """Like `decode_content`, for a reply, which must not be lost: what cannot be read is kept as `Other`."""
    if content is None or isinstance(content, str):
        return [Text(content)] if isinstance(content, str) else []
    if not isinstance(content, list):
        return [unreadable(content)]
    return [readable(part, f"{where}[{position}]", decode_part) for position, part in enumerate(content)]


def readable(part: Json, where: str, decode_part: Callable[[dict[str, Json], str], T]) -> T | Other:
    """A decoded part of a reply, or `Other` if it is malformed."""
    try:
        return decode_part(as_dict(part, where), where)
    except FormatError:
        return unreadable(part)


def unreadable(part: Json) -> Other:
    kind = part.get("type") if isinstance(part, dict) else None
    return Other(kind if isinstance(kind, str) else UNREADABLE, {UNREADABLE: part})
