"""One run of `bough import`: read paths, add their conversations to a store, and count the results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bough.cli.output import console
from bough.codec.digest import digest
from bough.errors import BoughError, ImporterError, Invalid
from bough.importers.common.files import without_files
from bough.ingest.matching import SECOND
from bough.model.imported import Archive, Conversation, ImportedMessage, ImportResult, Skipped
from bough.model.values import mutable, replace

if TYPE_CHECKING:
    from bough.importers.directories import Found
    from bough.importers.types import Importer
    from bough.store import Store

POLL_INTERVAL = 2.0
"""Seconds between two checks of watched files."""


@mutable
class ImportCounts:
    """Counts of the conversations and messages at one path, by result."""

    source: str
    title: str
    path: Path
    statuses: dict[str, int]
    skipped: list[Skipped]
    added: int = 0
    known: int = 0
    unchanged: int = 0
    """Files that were not read, because they are as the last import left them."""

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
            "unchanged": self.unchanged,
            "skipped": [{"place": one.place, "reason": one.reason} for one in self.skipped],
        }

    def add(self, result: ImportResult) -> None:
        if result.status != "empty":
            self.statuses[result.status] += result.conversations
        self.added += result.added
        self.known += result.known
        self.skipped += result.skipped


def no_counts(importer: Importer, path: Path) -> ImportCounts:
    return ImportCounts(importer.name, importer.title, path, dict.fromkeys(("new", "grown", "known", "deleted"), 0), [])


class SeenMessages:
    """The messages of one source that a dry run has read.

    They are compared by id, and by digest and time, because forks repeat messages under new ids.
    """

    def __init__(self) -> None:
        self._digests: dict[str, bytes] = {}
        self._timed: set[tuple[bytes, int]] = set()

    def is_new(self, message: ImportedMessage) -> bool:
        """Whether this message was not seen before; from now on it is."""
        known = message.id in self._digests
        try:
            own = digest(message.message, self._digests.get(message.parent or "", b""))
        except (Invalid, RecursionError):  # the import skips it
            own = b""
        self._digests[message.id] = own
        if message.created_at is not None and message.created_at % SECOND:
            known = known or (own, message.created_at) in self._timed
            self._timed.add((own, message.created_at))
        return not known


class ImportRun:
    """Imports paths into a store."""

    def __init__(self, store: Store, *, dry_run: bool = False, again: bool = False) -> None:
        self.store = store
        self.dry_run, self.again = dry_run, again
        self.unfinished: list[ImportCounts] = []
        """The counts of the path that failed last."""
        self._seen: dict[str, SeenMessages] = {}

    def read(
        self, found: Found, update: Callable[[int, int], None], parts: Sequence[Path] | None = None
    ) -> ImportCounts:
        """Import a path, or parts of it. Raises `ImporterError`, with the counts up to it in `unfinished`."""
        importer, path, excluded = found
        counts = no_counts(importer, path)
        self.unfinished = [counts]
        with without_files(excluded):
            for item in chain.from_iterable(importer.read(part) for part in (parts or [path])):
                if isinstance(item, Skipped):
                    counts.skipped.append(item)
                    continue
                item = self._without_seen(item) if self.dry_run else item
                counts.add(self.store.bring_in(item, again=self.again, dry_run=self.dry_run))
                update(counts.conversations, counts.added + counts.known)
        self.unfinished = []
        return counts

    def _without_seen(self, conversation: Conversation | Archive) -> Conversation | Archive:
        """The conversation without messages of earlier ones: a dry run stores nothing, so they would count twice."""
        if isinstance(conversation, Archive):
            return conversation
        seen = self._seen.setdefault(conversation.source, SeenMessages())
        items = (item for item in conversation.items if isinstance(item, Skipped) or seen.is_new(item))
        return replace(conversation, items=items)


def watch_files(run: ImportRun, found: list[Found], report: Callable[[ImportCounts], None]) -> None:
    """Poll files and import those that have changed, until Ctrl+C."""
    seen = {one.path: file_states(one.path) for one in found}
    console.note("Watching. Ctrl+C stops; everything imported is kept.")
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(POLL_INTERVAL)
            for one in found:
                now = file_states(one.path)
                changed = [file for file, state in now.items() if seen[one.path].get(file) != state]
                changed = [file for file in changed if str(file) not in one.excluded]
                seen[one.path] = now
                for part in changed_parts(one.importer, one.path, changed):
                    _import_again(run, one._replace(path=part), report)


def changed_parts(importer: Importer, path: Path, changed: list[Path]) -> list[Path]:
    """The paths to read again: the changed files if each can be read by itself, else the whole path."""
    if not changed or all(importer.recognises(file) for file in changed):
        return changed
    return [path]


def _import_again(run: ImportRun, part: Found, report: Callable[[ImportCounts], None]) -> None:
    try:
        counts = run.read(part, lambda *_: None)
    except ImporterError as error:  # the file is being written; the next check finds it changed
        console.note(f"bough: {error}")
    else:
        if counts.added:
            report(counts)


def file_states(path: Path) -> dict[Path, tuple[int, int]]:
    """The size and modification time of every file at a path."""
    found = {}
    # SQLite writes to the WAL, and to the file itself only later.
    for file in sorted(path.rglob("*")) if path.is_dir() else [path, Path(f"{path}-wal")]:
        with suppress(OSError):  # deleted since it was listed
            if file.is_file() and not file.is_symlink():
                status = file.stat()
                found[file] = (status.st_size, status.st_mtime_ns)
    return found


def bytes_at(path: Path) -> int | None:
    """The number of bytes at a path; None if unknown."""
    from bough.importers.common.files import open_files

    try:
        with open_files(path) as files:
            return sum(map(files.size, files.names))
    except BoughError:  # it is only for the progress bar; reading reports the error
        return None
