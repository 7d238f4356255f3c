"""The interface of an importer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from bough.model.imported import Archive, Conversation, Skipped


class Importer(Protocol):
    """Reads the files of one program. It never sees the store."""

    name: str
    """`claude-code`: the source of its conversations, and what `--from` takes."""
    title: str
    """`Claude Code`: the name of the program."""

    def recognises(self, path: Path) -> bool:
        """Whether it can read this file or directory, judged by the content, not by the name alone."""

    def read(self, path: Path) -> Iterator[Conversation | Archive | Skipped]:
        """The conversations of a file or directory, one at a time. Raises `ImporterError` if it is unreadable.

        A conversation's `items` are read before the next conversation is requested. Content that is not understood is
        yielded as a `Skipped` and does not end the reading.
        """

    def default_paths(self) -> list[Path]:
        """The existing paths where this program keeps its files; `bough import` lists them."""
