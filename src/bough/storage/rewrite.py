"""Rewrites rows of older versions in the shape in which rows are written now. Both shapes can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from bough.compress import decompress
from bough.db import Database, Row, Value
from bough.errors import StorageError
from bough.model.ids import is_plain
from bough.model.values import value
from bough.protocols import Progress

Transact: TypeAlias = Callable[[Callable[[int], None]], None]

PAGE = 500
"""Rows of one transaction, so that other writers wait for a moment only."""


@value
class PackedRows:
    """Rows of a table that hold compressed text: the statements that read a page of them and write one."""

    packed: str
    unpack: str
    before: tuple[int, ...]
    """A key that is less than every other."""


TABLES = PackedRows("packed_messages", "unpack_message", (0,)), PackedRows("packed_blocks", "unpack_block", (0, 0))


def rewrite(db: Database, write: Transact, progress: Progress | None = None) -> int:
    """Makes text plain that an older version compressed in its row; the number of rows rewritten.

    It works in pages, each in a transaction of its own, and continues where an earlier run ended.
    """
    count = 0
    _, _, newest = db.row("search_state") or (0, 0, 0)
    for table in TABLES:
        for page in _pages(db, table):
            # Decompressed before the lock is taken. A row that was deleted since is not there to be changed.
            if texts := [(text, *key) for *key, packed in page if (text := _plain(packed)) is not None]:
                write(lambda _, texts=texts, table=table: db.run_many(table.unpack, texts))  # type: ignore[misc]
            count += len(texts)
            if progress is not None:
                progress(page[-1][0], newest)
    return count


def _pages(db: Database, table: PackedRows) -> Iterator[list[Row]]:
    last: tuple[Value, ...] = table.before
    while page := db.rows(table.packed, *last, PAGE):
        if page[-1][:-1] <= last:
            raise StorageError("The list of rows does not go on; the file is damaged. Run verify().")
        yield page
        last = page[-1][:-1]


def _plain(packed: bytes) -> str | None:
    """The text of a packed row; None for what stays as it is: text that no column can hold, and damaged rows."""
    try:
        text = decompress(packed).decode("utf-8", "surrogatepass")
    except ValueError:
        return None  # reported by `verify`
    return text if is_plain(text) else None
