"""The import loop: batch by batch, each stored in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from bough.db import Database
from bough.errors import Invalid, Refused
from bough.ingest.archive import ArchiveIngestion
from bough.ingest.batches import Ingestion, batches, note_skipped
from bough.ingest.conversation import ConversationIngestion
from bough.model import Node
from bough.model.imported import Archive, Conversation, ImportedMessage, ImportResult, Skipped
from bough.model.values import replace
from bough.storage.messages import BeforeSave, admit, prepare

Write: TypeAlias = Callable[[Callable[[int], Any]], Any]
"""Runs a function of `now` in one transaction; more than once if the transaction has to be retried."""


def bring_in(
    db: Database,
    before_save: BeforeSave | None,
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
            ingestion.preview(ingestion.distinct(batch))
        else:
            refused = _admit(batch, before_save, ingestion.skipped) if before_save else set()
            batch = ingestion.distinct(batch)
            # A repeated import is mostly known batches: they are recognised by reading, without the write lock.
            ingestion = ingestion.skip_known(batch) or _store(ingestion, batch, refused, write)
    result: ImportResult = ingestion.preview_result() if dry_run else write(ingestion.finish)
    return result


def _admit(batch: list[Any], before_save: BeforeSave, skipped: list[Skipped]) -> set[str]:
    """Puts each message of a batch through the hook, before it is compared with the store; the ids of refused ones."""
    refused = set()
    for place, one in enumerate(batch):
        if isinstance(one, (ImportedMessage, Node)):
            try:
                message = admit(one.message, before_save)
            except (Refused, Invalid) as error:
                note_skipped(skipped, Skipped(one.id, str(error)))
                refused.add(one.id)
                continue
            if message is not one.message:
                batch[place] = replace(one, message=message)
    return refused


def _store(ingestion: Ingestion, batch: list[Any], refused: set[str], write: Write) -> Ingestion:
    # Hashing and compressing take longest, so they happen outside the transaction.
    entries = ingestion.prepare([one for one in batch if one.id not in refused] if refused else batch, prepare)
    stored: Ingestion = write(lambda now: ingestion.store(batch, entries, now))
    return stored
