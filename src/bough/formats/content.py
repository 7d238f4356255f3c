"""Content that is a string, a list of parts, or missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from bough.formats.payload import as_dict, as_list
from bough.model import Json, Text

T = TypeVar("T")


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
