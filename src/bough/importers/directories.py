"""A directory that may hold files of several programs: whose file each one is, and what to read as a whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bough.errors import ImporterError

if TYPE_CHECKING:
    from bough.importers.types import Importer

IGNORED = (
    ".jpg",
    ".jpeg",
    ".png",
    ".gif",
    ".webp",
    ".mp3",
    ".mp4",
    ".wav",
    ".pdf",
    ".py",
    ".js",
    ".ts",
    ".html",
    ".css",
)
"""Endings of files that no program keeps conversations in."""


class Found(NamedTuple):
    """A path with the importer that reads it."""

    importer: Importer
    path: Path
    excluded: frozenset[str] = frozenset()
    """Files below the path that other importers read."""


def split(directory: Path, importers: Sequence[Importer], known: Callable[[str], str | None]) -> list[Found]:
    """What to read of a directory.

    `known` is the name of the importer that has read a file before, if it is unchanged; empty if none reads it.

    An importer that recognises the directory reads all of it that is nobody else's, because the files of one program
    may refer to one another. The others read their files one by one.
    """
    whole = [importer for importer in importers if _recognises(importer, directory)]
    ordered = [*whole, *(importer for importer in importers if importer not in whole)]
    owned: dict[str, list[str]] = {}
    for file in walk(directory):
        owner = known(file)
        owner = _owner(file, ordered) if owner is None else owner
        if owner:
            owned.setdefault(owner, []).append(file)
    found = []
    for importer in importers:
        files = owned.get(importer.name, [])
        if importer in whole:
            others = (file for name, theirs in owned.items() if name != importer.name for file in theirs)
            found.append(Found(importer, directory, frozenset(others)))
        else:
            found += [Found(importer, Path(file)) for file in files]
    return found


def walk(directory: Path) -> Iterator[str]:
    """The regular files below a directory in a fixed order; links are not followed."""
    for folder, folders, files in os.walk(directory, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            with suppress(OSError):
                if stat.S_ISREG(os.lstat(path).st_mode):
                    yield path


def _owner(file: str, importers: Sequence[Importer]) -> str | None:
    if file.lower().endswith(IGNORED):
        return None
    path = Path(file)
    return next((importer.name for importer in importers if _recognises(importer, path)), None)


def _recognises(importer: Importer, path: Path) -> bool:
    try:
        return importer.recognises(path)
    except ImporterError:  # damaged for this importer; it may be valid for another
        return False
