"""The first line of an archive, `{"archive": {"version": 1}}`: the version of the format of the lines below it.

An archive without it is of version 1. The version is raised when a bough from before could misread a line.
"""

from __future__ import annotations

from bough.errors import FormatError
from bough.model import Json

VERSION = 1


def encode_header() -> dict[str, Json]:
    return {"archive": {"version": VERSION}}


def is_header(item: Json) -> bool:
    return isinstance(item, dict) and item.keys() == {"archive"}


def decode_version(item: Json, where: str) -> int:
    """The version in a header. Raises `FormatError`."""
    header = item["archive"]
    version = header.get("version") if isinstance(header, dict) else None
    if type(version) is not int:
        raise FormatError(f"{where}.archive has no version.")
    return version
