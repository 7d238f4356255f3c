"""One import: reads a path, brings in what it tells, and counts what became of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.cli.output import console
from bough.codec.digest import digest
from bough.errors import BoughError, ImporterError, Invalid
from bough.ingest.matching import SECOND
from bough.model.imported import Archive, Conversation, ImportedMessage, ImportResult, Skipped
from bough.model.values import mutable, replace

if TYPE_CHECKING:
    from bough.importers.types import Importer
    from bough.store import Store

PAUSE = 2.0
"""Seconds between two looks at the files that are followed."""


@mutable
class Tally:
    """What became of the conversations at one path."""

    source: str
    title: str
    path: Path
    statuses: dict[str, int]
    skipped: list[Skipped]
    added: int = 0
    known: int = 0

    @property
    def conversations(self) -> int:
        return sum(self.statuses.values())

    @property
    def data(self) -> dict[str, Any]:
        return {
            "source": self.source,
            "path": str(self.path),
            "conversations": self.conversations,
            **self.statuses,
            "messages": {"added": self.added, "known": self.known},
            "skipped": [{"place": one.place, "reason": one.reason} for one in self.skipped],
        }

    def count(self, brought: ImportResult) -> None:
        if brought.status != "empty":
            self.statuses[brought.status] += brought.conversations
        self.added += brought.added
        self.known += brought.known
        self.skipped += brought.skipped


class Foreseen:
    """What a dry run was told, by its names, and by what was said where and when: forks replay under new names."""

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._said: set[tuple[bytes, int]] = set()

    def is_new(self, said: ImportedMessage) -> bool:
        known = said.id in self._digests
        try:
            mine = digest(said.message, self._digests.get(said.parent or "", b""))
        except (Invalid, RecursionError):  # it will be skipped
            mine = b""
        self._digests[said.id] = mine
        if said.created_at is not None and said.created_at % SECOND:
            known = known or (mine, said.created_at) in self._said
            self._said.add((mine, said.created_at))
        return not known


class Import:
    """Brings paths into a store."""

    def __init__(self, store: Store, *, dry_run: bool = False, again: bool = False) -> None:
        self.store = store
        self.dry_run, self.again = dry_run, again
        self.unfinished: list[Tally] = []
        """What was counted of the path that failed last."""
        self._foreseen: dict[str, Foreseen] = {}

    def run(self, importer: Importer, path: Path, tell: Callable[[int, int], None]) -> Tally:
        """Reads a path to its end. Raises `ImporterError`, with what came before in `unfinished`."""
        tally = Tally(importer.name, importer.title, path, dict.fromkeys(("new", "grown", "known", "deleted"), 0), [])
        self.unfinished = [tally]
        for told in importer.read(path):
            if isinstance(told, Skipped):
                tally.skipped.append(told)
                continue
            told = self._told_once(told) if self.dry_run else told
            tally.count(self.store.bring_in(told, again=self.again, dry_run=self.dry_run))
            tell(tally.conversations, tally.added + tally.known)
        self.unfinished = []
        return tally

    def _told_once(self, told: Conversation | Archive) -> Conversation | Archive:
        """A conversation without what another one has told: a dry run, which stores nothing, would count it twice."""
        if isinstance(told, Archive):
            return told
        foreseen = self._foreseen.setdefault(told.source, Foreseen())
        return replace(told, items=(item for item in told.items if isinstance(item, Skipped) or foreseen.is_new(item)))


def follow(work: Import, found: list[tuple[Importer, Path]], report: Callable[[Tally], None]) -> None:
    """Looks at the files again and again, and brings in those that have changed, until Ctrl+C."""
    seen = {path: states(path) for _, path in found}
    console.note("Watching. Ctrl+C ends it; what was brought in is kept.")
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(PAUSE)
            for importer, path in found:
                now = states(path)
                changed = [file for file, state in now.items() if seen[path].get(file) != state]
                seen[path] = now
                for part in parts(importer, path, changed):
                    _again(work, importer, part, report)


def parts(importer: Importer, path: Path, changed: list[Path]) -> list[Path]:
    """What to read again: the files that changed, where each can be read by itself, or everything."""
    if not changed or all(importer.recognises(file) for file in changed):
        return changed
    return [path]


def _again(work: Import, importer: Importer, part: Path, report: Callable[[Tally], None]) -> None:
    try:
        tally = work.run(importer, part, lambda *_: None)
    except ImporterError as error:  # a file in mid-write; it will have changed again at the next look
        console.note(f"bough: {error}")
    else:
        if tally.added:
            report(tally)


def states(path: Path) -> dict[Path, tuple[int, int]]:
    """The size and time of every file at a path."""
    found = {}
    for file in sorted(path.rglob("*")) if path.is_dir() else [path, Path(f"{path}-wal")]:
        with suppress(OSError):
            if file.is_file() and not file.is_symlink():
                about = file.stat()
                found[file] = (about.st_size, about.st_mtime_ns)
    return found


def bytes_at(path: Path) -> int | None:
    """How many bytes there are to read; None when that is not known."""
    from bough.importers.common.files import open_files

    try:
        with open_files(path) as files:
            return sum(map(files.size, files.names))
    except BoughError:
        return None
