"""Documents: small JSON or bytes, kept with a session by name, written by compare-and-set.

A deleted document leaves a row without content, so that its revisions go on where they were: a writer who has seen an
earlier document of that name never overwrites a later one.
"""

from __future__ import annotations

from bough.codec import json_text, json_value
from bough.db import Database, Row
from bough.errors import Conflict, Invalid, NotFound
from bough.model import Document, Json
from bough.model.ids import is_plain
from bough.storage import changes, leases

LARGEST = 1_048_576
"""Bytes of a document."""
LONGEST_NAME = 200


def check_name(name: str) -> None:
    """Raises `Invalid` for what is no name of a document."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not is_plain(name):
        raise Invalid(f"The name of a document is a plain text of up to {LONGEST_NAME} characters, not {name!r:.60}.")


def encode(value: Json | bytes) -> tuple[str | None, bytes | None]:
    """The columns of a value: JSON, or bytes. Raises `Invalid` for another value, and for one that is too large."""
    data = bytes(value) if isinstance(value, (bytes, bytearray, memoryview)) else None
    text = None if data is not None else "null" if value is None else json_text(value)
    size = len(data if data is not None else (text or "").encode("utf-8", "surrogatepass"))
    if size > LARGEST:
        raise Invalid(
            f"That document has {size:,} bytes, and the most is {LARGEST:,}; nothing was written. "
            "Keep it in a file and its name in the document, or as the content of a message."
        )
    return text, data


def document(row: Row) -> Document:
    name, revision, text, data, updated_at = row
    return Document(name, data if text is None else json_value(text), revision, updated_at)


def find(db: Database, key: str, name: str) -> Document:
    """Raises `NotFound`."""
    row = db.row("document", leases.session_state(db, key).n, name)
    if row is None or row[2] is row[3] is None:
        raise NotFound(f"Session {key!r} has no document {name!r}.")
    return document(row)


def all_of(db: Database, key: str) -> list[Document]:
    rows = db.rows("documents", leases.session_state(db, key).n)
    return [document(row) for row in rows if not row[2] is row[3] is None]


def put(
    db: Database, key: str, name: str, content: tuple[str | None, bytes | None], expected: int | None, now: int
) -> int:
    """Writes a document, or deletes it if the content is two Nones; its new revision. Raises `Conflict`, `NotFound`."""
    session = leases.session_state(db, key).n
    row = db.row("document", session, name)
    exists = row is not None and not row[2] is row[3] is None
    current = row[1] if row is not None and exists else 0
    if expected is not None and expected != current:
        there = f"is at revision {current}" if exists else "does not exist"
        raise Conflict(f"Document {name!r} of {key!r} {there}, not at {expected}; nothing was written. Read it again.")
    if content == (None, None) and not exists:
        raise NotFound(f"Session {key!r} has no document {name!r}.")
    revision = 1 + (row[1] if row is not None else 0)
    db.run("put_document", session, name, revision, *content, now)
    changes.add(db, "document", now, session)
    return int(revision)
