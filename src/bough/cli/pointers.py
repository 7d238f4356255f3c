"""`.bough` files, which name the store of a directory, and the list of those that may be used.

Such a file comes along with a cloned repository, and anybody may write one to `/tmp`. So it is used only if bough made
it here or the user allowed it: both remember its path and its digest in the user's data directory.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from bough.errors import Invalid, NotFound
from bough.locations import data_directory, is_server_url

POINTER = ".bough"
"""File that names the store of its directory and of all directories below."""
ALLOWED = "allowed.json"
LONGEST = 65_536
"""Bytes of a pointer that are read."""


def nearest_pointers(directory: Path) -> Iterator[Path]:
    """The `.bough` files of this directory and of its parents, the nearest first."""
    return (file for above in (directory, *directory.parents) if (file := above / POINTER).is_file())


def store_named_by(pointer: Path, content: bytes) -> str:
    """The store that a `.bough` file names: one line with a path or URL, or TOML with `[db] path`. Raises `Invalid`."""
    text = content.decode("utf-8", "replace").strip()
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    named = lines[0].strip() if len(lines) == 1 and "=" not in lines[0] else _path_in_toml(text)
    if not isinstance(named, str) or not named or not named.isprintable():
        raise Invalid(f'{str(pointer)!r} names no store: write a path on one line, or [db] and path = "…".')
    return named if is_server_url(named) else str(pointer.parent / Path(named).expanduser())


def _path_in_toml(text: str) -> object:
    import tomllib

    try:
        return tomllib.loads(text)["db"]["path"]
    except (ValueError, LookupError, TypeError):
        return None


def read(pointer: Path) -> bytes:
    """The content of a `.bough` file. Raises `NotFound`."""
    try:
        with pointer.open("rb") as file:
            return file.read(LONGEST)
    except OSError as error:
        raise NotFound(f"{str(pointer)!r} cannot be read: {error.strerror}.") from None


# The list ------------------------------------------------------------------------------------------------------------


def is_allowed(pointer: Path, content: bytes) -> bool:
    """Whether a file with this content was made here by bough, or allowed."""
    return load_allowed().get(os.path.realpath(pointer)) == sha256(content).hexdigest()


def allow(pointer: Path, content: bytes) -> None:
    _save(load_allowed() | {os.path.realpath(pointer): sha256(content).hexdigest()})


def forget(pointer: Path) -> bool:
    """Take a file off the list; whether it was on it."""
    allowed = load_allowed()
    if known := allowed.pop(os.path.realpath(pointer), None):
        _save(allowed)
    return known is not None


def load_allowed() -> dict[str, str]:
    """The digests of the files that may be used, by their paths. Raises `Invalid` for a damaged list."""
    path = _list_path()
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise Invalid(f"The list of allowed .bough files, {str(path)!r}, cannot be read: {error}.") from None
    if not isinstance(found, dict):
        raise Invalid(f"The list of allowed .bough files, {str(path)!r}, is damaged; delete it and allow them again.")
    return found


def _save(allowed: dict[str, str]) -> None:
    from bough.config.writing import write

    write(_list_path(), json.dumps(allowed, indent=1, sort_keys=True) + "\n")


def _list_path() -> Path:
    return Path(data_directory(), ALLOWED)
