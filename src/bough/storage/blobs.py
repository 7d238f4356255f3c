"""Blobs: content that is stored once, reference-counted, and read a piece at a time.

A blob is held once by every block that has it, also by the blocks of an entry of the trash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from bough import compress
from bough.codec import json_list
from bough.codec.encode import Blob
from bough.db import Database
from bough.db.rows import BlockRow, MessageRow
from bough.errors import Corrupt, NotFound
from bough.storage import lookup

R = TypeVar("R", MessageRow, BlockRow)


def hold(db: Database, blobs: Sequence[Blob]) -> dict[bytes, int]:
    """Holds each of the blobs once more, and stores those that are new; their numbers by their digests."""
    times = Counter(blob.digest for blob in blobs)
    held: dict[bytes, int] = dict(db.rows_many("hold_blob", list(times.items())))
    fresh = {blob.digest: blob for blob in blobs if blob.digest not in held}
    if fresh:
        added: dict[bytes, int] = dict(db.rows_many("insert_blob", [
            (blob.digest, blob.size, blob.encoding, times[blob.digest]) for blob in fresh.values()
        ]))  # fmt: skip
        db.run_many("insert_blob_bytes", [(n, fresh[digest].bytes) for digest, n in added.items()])
        held |= added
    return held


def count(rows: Iterable[MessageRow | BlockRow]) -> Counter[int]:
    """How often rows of messages and blocks hold each blob, by its number."""
    return Counter(row.blob for row in rows if row.blob is not None)


def release(db: Database, held: Mapping[int, int]) -> None:
    """Lowers the reference counts of blobs, and removes those that reach zero."""
    db.run_many("release_blob", [(times, n) for n, times in held.items()])
    released = json_list(held)
    db.run("sweep_blob_bytes", released)
    db.run("sweep_blobs", released)


def copy(source: Database, target: Database, held: Mapping[int, int]) -> dict[int, int]:
    """Raises the reference counts of blobs in the target; their numbers there by their numbers in the source."""
    known = {row[0]: row for row in source.rows("blobs_by_number", json_list(held))}
    times = {digest: held[n] for n, digest, _, _ in known.values()}
    copied: dict[bytes, int] = dict(target.rows_many("hold_blob", list(times.items()))) if times else {}
    for n, digest, size, encoding in known.values():
        if digest not in copied and (content := source.row("blob_content", n)) is not None:
            copied |= dict(target.rows_many("insert_blob", [(digest, size, encoding, times[digest])]))
            target.run("insert_blob_bytes", copied[digest], *content)
    return {n: copied[digest] for n, digest, _, _ in known.values() if digest in copied}


def renumber(rows: Iterable[R], numbers: Mapping[int, int]) -> list[R]:
    """Rows with the numbers that their blobs have in another store."""
    return [row if row.blob is None else row._replace(blob=numbers.get(row.blob)) for row in rows]


def content(db: Database, id: str, position: int, chunk: int) -> Iterator[bytes]:
    """The content of one block of a message, a piece at a time. Raises `NotFound` and `Corrupt`."""
    with db.reading():
        row = db.row("block_content", lookup.number(db, id), position)
        if row is None:
            raise NotFound(f"Message {id!r} has no block {position}.")
        text, packed, number = row
        blob = None if number is None else db.row("blob", number)
    if number is not None:
        if blob is None:
            raise Corrupt(f"The content of block {position} of message {id!r} is gone; run verify().")
        return _pieces(db, chunk, *blob)
    return iter([(text or "").encode() if packed is None else compress.decompress(packed)])


def _pieces(db: Database, chunk: int, n: int, size: int, encoding: str | None) -> Iterator[bytes]:
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
