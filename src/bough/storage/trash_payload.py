"""The payload of a trash entry: the deleted rows, and the other changes of the deletion.

A payload records its schema version and its columns, so that it can be read after columns were added. A payload
without them was written by an older version, and has the first columns of each table.
"""

from __future__ import annotations

import json
from binascii import a2b_base64, b2a_base64
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from bough.codec.encode import NO_BLOCK
from bough.compress import compress, decompress
from bough.db.migrations import VERSION
from bough.db.rows import (
    BlockRow,
    DirectoryRow,
    DocumentRow,
    ExternalRow,
    MessageRow,
    PinRow,
    ReplyRow,
    SessionRow,
    TurnRow,
)
from bough.errors import Corrupt, SchemaTooNew
from bough.model.values import replace, value
from bough.storage import blobs
from bough.storage.replies import reply_of

R = TypeVar("R")
WITH_REPLIES = 4
"""The first schema with a row per reply; entries from before have the figures of turns only."""


class MovedHead(NamedTuple):
    """A session whose head was deleted, and its head before and after."""

    session: int
    before: int
    after: int | None


class CutTurn(NamedTuple):
    """A turn whose last messages were deleted, and its last message before and after."""

    turn: int
    before: int
    after: int


TABLES: dict[str, type[Any]] = {
    "messages": MessageRow,
    "blocks": BlockRow,
    "turns": TurnRow,
    "replies": ReplyRow,
    "externals": ExternalRow,
    "sessions": SessionRow,
    "moved": MovedHead,
    "cut": CutTurn,
    "directories": DirectoryRow,
    "documents": DocumentRow,
    "pins": PinRow,
}
"""The row types of a payload, by the field of `Deleted`. A field that an older payload lacks is empty."""


@value
class Deleted:
    """The deleted rows of one entry."""

    messages: Sequence[MessageRow] = ()
    blocks: Sequence[BlockRow] = ()
    turns: Sequence[TurnRow] = ()
    replies: Sequence[ReplyRow] = ()
    externals: Sequence[ExternalRow] = ()
    sessions: Sequence[SessionRow] = ()
    moved: Sequence[MovedHead] = ()
    cut: Sequence[CutTurn] = ()
    directories: Sequence[DirectoryRow] = ()
    documents: Sequence[DocumentRow] = ()
    pins: Sequence[PinRow] = ()

    @property
    def blobs(self) -> Counter[int]:
        """The number of references from the rows to each blob."""
        return blobs.count([*self.messages, *self.blocks])

    def renumbered(self, numbers: Mapping[int, int]) -> Deleted:
        """A copy with the blob numbers of another store."""
        messages, blocks = blobs.renumber(self.messages, numbers), blobs.renumber(self.blocks, numbers)
        return replace(self, messages=messages, blocks=blocks)


def pack(deleted: Deleted) -> bytes:
    def plain(value: object) -> object:
        if isinstance(value, bytes):
            return {"$bytes": b2a_base64(value, newline=False).decode()}
        raise TypeError(type(value))

    columns = {name: cls._fields for name, cls in TABLES.items()}
    rows = {name: getattr(deleted, name) for name in TABLES}
    return compress(json.dumps({"schema": VERSION, "columns": columns, **rows}, default=plain).encode())


def unpack(payload: bytes) -> Deleted:
    """The rows of an entry, with the current columns. Raises `Corrupt`, and `SchemaTooNew` for a newer entry."""

    def hook(value: dict[str, Any]) -> Any:
        return a2b_base64(value["$bytes"]) if "$bytes" in value else value

    try:
        stored: dict[str, Any] = json.loads(decompress(payload), object_hook=hook)
        schema, columns = stored.get("schema", 0), stored.get("columns", {})
        if schema <= VERSION:
            if not schema:
                _add_first_blocks(stored)
            deleted = Deleted(**{
                name: _rows(cls, columns.get(name, cls._fields), stored.get(name, ())) for name, cls in TABLES.items()
            })  # fmt: skip
            if schema < WITH_REPLIES:
                deleted = replace(deleted, replies=list(filter(None, map(reply_of, deleted.turns))))
            return deleted
    except (ValueError, TypeError, LookupError, AttributeError) as problem:
        raise Corrupt(
            f"This entry of the trash is damaged: {problem}. It cannot be restored; a purge removes it."
        ) from None
    raise SchemaTooNew(
        f"This entry of the trash was written by a newer bough (schema {schema}, this one supports {VERSION}); "
        "upgrade bough to restore it. Nothing was changed."
    )


def _rows(cls: type[R], columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[R]:
    """Rows with the current columns: a missing column has its default, a dropped one is left out."""
    fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
    if tuple(columns) == fields:
        return [cls(*row) for row in rows]
    kept = [(place, name) for place, name in enumerate(columns) if name in fields]
    return [cls(**{name: row[place] for place, name in kept}) for row in rows]


# Columns of the first schema, in which the first block of a message was a row of `blocks`.
FIRST_MESSAGE_COLUMNS = 14
MESSAGE, POSITION, CONTENT = 0, 1, 3


def _add_first_blocks(stored: dict[str, Any]) -> None:
    """Convert an entry of the first schema: move first blocks into the rows of their messages."""
    messages, blocks = stored["messages"], stored["blocks"]
    if not messages or len(messages[0]) > FIRST_MESSAGE_COLUMNS:
        return
    firsts = {row[MESSAGE]: row[CONTENT:] for row in blocks if row[POSITION] == 0}
    stored["blocks"] = [row for row in blocks if row[POSITION] > 0]
    further = Counter(row[MESSAGE] for row in stored["blocks"])
    stored["messages"] = [[*row[:3], further[row[0]], *row[3:], *firsts.get(row[0], NO_BLOCK)] for row in messages]
