"""What an import will read: each path with its importer, and of a directory only what was changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bough import importers
from bough.cli.commands.import_ledger import ImportLedger
from bough.cli.commands.import_run import ImportCounts, ImportRun, bytes_at, changed_parts, no_counts
from bough.errors import BoughError, ImporterError
from bough.importers.directories import Found

if TYPE_CHECKING:
    from bough.store import Store


class Reading(NamedTuple):
    """A path that will be read."""

    found: Found
    parts: Sequence[Path] | None
    """What was changed of it, if each part can be read by itself; None for all of it, empty for nothing."""
    unchanged: int
    """The number of its files that are not read."""
    ledger: ImportLedger

    @property
    def size(self) -> int | None:
        """Bytes to read; None if unknown."""
        sizes = [bytes_at(part) for part in ([self.found.path] if self.parts is None else self.parts)]
        return None if None in sizes else sum(filter(None, sizes))

    def run(self, run: ImportRun, update: Callable[[int, int], None]) -> ImportCounts:
        """Read it, and remember that. Raises `ImporterError`."""
        if self.parts is not None and not self.parts:
            counts = no_counts(self.found.importer, self.found.path)
        else:
            counts = run.read(self.found, update, self.parts)
            if not run.dry_run:
                self.ledger.remember(self.found)
        counts.unchanged = self.unchanged
        return counts


def plan(
    store: Store, paths: Sequence[Path], source: str | None, again: bool
) -> tuple[list[Reading], list[BoughError]]:
    """What to read of some paths, and an error for each that no importer reads."""
    readings: list[Reading] = []
    failed: list[BoughError] = []
    for path in paths:
        try:
            ledger = ImportLedger(store, path, again)
            if source is not None:
                readings.append(Reading(Found(importers.get(source), path), None, 0, ledger))
                continue
            if ledger.files and ledger.unchanged and not ledger.changed:
                readings += [known(ledger, name, count) for name, count in sorted(ledger.unchanged.items())]
                continue
            here = importers.find(path, ledger.owner)
            readings += [read_changed(one, ledger) for one in here]
            failed += importers.refused(path, here)
        except ImporterError as error:
            failed.append(error)
    return readings, failed


def known(ledger: ImportLedger, source: str, count: int) -> Reading:
    """Nothing, of a directory whose files are all unchanged."""
    return Reading(Found(importers.get(source), ledger.path), (), count, ledger)


def read_changed(found: Found, ledger: ImportLedger) -> Reading:
    """What was changed below a path, or all of it if its files cannot be read one by one."""
    unchanged = ledger.unchanged.get(found.importer.name, 0) if found.path == ledger.path else 0
    if not unchanged:
        return Reading(found, None, 0, ledger)
    changed = [Path(file) for file in ledger.changed if file not in found.excluded]
    parts = changed_parts(found.importer, found.path, changed)
    if parts == [found.path]:
        return Reading(found, None, 0, ledger)
    return Reading(found, parts, unchanged, ledger)
