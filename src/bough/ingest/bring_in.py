"""The import loop: batch by batch, each stored in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from bough.db import Database
from bough.ingest.archive import ArchiveIngestion
from bough.ingest.batches import Ingestion, Prepare, batches
from bough.ingest.conversation import ConversationIngestion
from bough.model.imported import Archive, Conversation, ImportResult

Write: TypeAlias = Callable[[Callable[[int], Any]], Any]
"""Runs a function of `now` in one transaction; more than once if the transaction has to be retried."""


def bring_in(
    db: Database,
    prepare: Prepare,
    write: Write,
    source: Conversation | Archive,
    again: bool = False,
    dry_run: bool = False,
) -> ImportResult:
    """Imports a conversation or an archive."""
    ingestion: Ingestion = (
        ArchiveIngestion(db, again) if isinstance(source, Archive) else ConversationIngestion(db, source, again)
    )
    if ingestion.is_deleted:
        return ImportResult("deleted", None)
    items: Iterable[Any] = source.items
    for batch in batches(items, ingestion.skipped):
        if dry_run:
            ingestion.preview(batch)
        else:
            # A repeated import is mostly known batches: they are recognised by reading, without the write lock.
            ingestion = ingestion.skip_known(batch) or _store(ingestion, batch, prepare, write)
    result: ImportResult = ingestion.preview_result() if dry_run else write(ingestion.finish)
    return result


def _store(ingestion: Ingestion, batch: list[Any], prepare: Prepare, write: Write) -> Ingestion:
    # Hashing and compressing take longest, so they happen outside the transaction.
    entries = ingestion.prepare(batch, prepare)
    stored: Ingestion = write(lambda now: ingestion.store(batch, entries, now))
    return stored
