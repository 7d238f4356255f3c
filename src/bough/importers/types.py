"""What every importer is: a name, a way to recognise its files, and a reader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from bough.model.imported import Archive, Conversation, Skipped


class Importer(Protocol):
    """Knows the files of one program. It never sees the store."""

    name: str
    """`claude-code`: the source of its conversations, and what `--from` takes."""
    title: str
    """`Claude Code`: what people call the program."""

    def recognises(self, path: Path) -> bool:
        """Whether this file or directory is one of its own. It looks at the content, not at the name alone."""

    def read(self, path: Path) -> Iterator[Conversation | Archive | Skipped]:
        """The conversations of a file or directory, one at a time. Raises `ImporterError` for one that is unreadable.

        A conversation's `items` are read before the next conversation is asked for. What cannot be understood is
        yielded as a `Skipped`, and never ends the reading.
        """

    def default_paths(self) -> list[Path]:
        """Where this program keeps its files on this machine, those that exist: what `bough import` offers."""
