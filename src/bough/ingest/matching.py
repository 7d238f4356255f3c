"""Match imported messages with stored ones: under another id, or with fewer blocks than now."""

from __future__ import annotations

from bough.codec.digest import digest
from bough.db import Database
from bough.model import Message
from bough.model.imported import ImportedMessage
from bough.model.values import value
from bough.storage import lookup

SECOND = 1_000_000


@value
class KnownMessage:
    """The stored message behind an external id; `n` is None if it was deleted here."""

    n: int | None
    digest: bytes | None = None
    continued: bool = False
    """Whether another message follows it."""


def find_replay(db: Database, imported: ImportedMessage, parent: int | None, now: int) -> int | None:
    """The stored message with the same content, parent and time: a replay under a new id."""
    # A time to the second is no evidence: two subagents may get the same prompt within one second.
    if imported.created_at is None or imported.created_at % SECOND == 0:
        return None
    parent_digest, parent_time = _parent(db, parent)
    wanted = digest(imported.message, parent_digest)
    time = max(min(imported.created_at, now), parent_time + 1)
    if parent is None:
        candidates = [n for (n,) in db.rows("roots_by_digest", wanted)]
    else:
        candidates = [n for n, other in db.rows("child_digests", parent) if other == wanted]
    return next((n for n in candidates if (header := lookup.header(db, n)) and header.created_at == time), None)


def has_grown(db: Database, known: KnownMessage, message: Message, parent: int | None) -> bool:
    """Whether a message has more blocks than when it was imported, and nothing follows it here yet."""
    if known.continued or known.n is None or (parent is not None and parent >= known.n):
        return False
    before, _ = _parent(db, parent)
    if digest(message, before) == known.digest:
        return False
    # The shorter version is not loaded: one of the prefixes of this message has its digest, or none has.
    prefixes = (message.blocks[:size] for size in range(len(message.blocks)))
    return any(digest(Message(message.role, some, message.error), before) == known.digest for some in prefixes)


def _parent(db: Database, parent: int | None) -> tuple[bytes, int]:
    """The digest and the time of the parent; empty and 0 for a root."""
    header = lookup.header(db, parent)
    return (header.digest, header.created_at) if header else (b"", 0)
