"""Content too large to hold: read from the database, and decompressed, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator

from bough import compress
from bough.db import Database
from bough.errors import Corrupt, NotFound
from bough.storage import lookup


def content(db: Database, id: str, position: int, chunk: int) -> Iterator[bytes]:
    """The content of one block of a message."""
    with db.reading():
        row = db.row("content_place", lookup.number(db, id), position)
        blob = db.row("blob", row[2]) if row and row[2] is not None else None
    if row is None:
        raise NotFound(f"Message {id!r} has no block {position}.")
    if row[2] is not None:
        if blob is None:
            raise Corrupt(f"The content of block {position} of message {id!r} is gone; run verify().")
        return _pieces(db, blob[0], blob[1], blob[2], chunk)
    return iter([compress.decompress(row[1]) if row[1] is not None else (row[0] or "").encode()])


def _pieces(db: Database, n: int, size: int, encoding: str | None, chunk: int) -> Iterator[bytes]:
    stored = db.blob_chunks(n, chunk)
    seen = 0
    try:
        for piece in compress.decompress_chunks(stored, chunk) if encoding == "zstd" else stored:
            seen += len(piece)
            yield piece
    except ValueError as problem:
        raise Corrupt(f"This content is damaged: {problem}. Run verify().") from None
    if seen != size:
        raise Corrupt(f"Only {seen} of {size} bytes of this content are left. Run verify().")
