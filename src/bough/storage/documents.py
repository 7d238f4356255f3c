"""Documents: small JSON or bytes, kept with a session by name, written by compare-and-set.

A deleted document leaves a row without content, so that its revisions go on where they were: a writer who has seen an
earlier document of that name never overwrites a later one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from bough.codec import json_list, json_text, json_value
from bough.db import Database, Row
from bough.db.rows import DocumentRow
from bough.errors import Conflict, Invalid, NotFound
from bough.model import Document, Json
from bough.model.ids import AFTER_ALL, is_plain
from bough.model.values import value
from bough.storage import changes, leases

LARGEST = 1_048_576
"""Bytes of a document."""
LONGEST_NAME = 200
EVERYTHING = 2**62

Content: TypeAlias = tuple[str | None, bytes | None]
"""The columns of a document: JSON as text, or bytes."""
Contents: TypeAlias = Mapping[str, Content]
NOTHING: Content = (None, None)
"""The content of a deleted document."""


def check_name(name: str) -> None:
    """Raises `Invalid` for what is no name of a document."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not is_plain(name):
        raise Invalid(f"The name of a document is a plain text of up to {LONGEST_NAME} characters, not {name!r:.60}.")


def encode(given: Json | bytes) -> Content:
    """The columns of a value: JSON, or bytes. Raises `Invalid` for another value, and for one that is too large."""
    data = bytes(given) if isinstance(given, (bytes, bytearray, memoryview)) else None
    text = None if data is not None else "null" if given is None else json_text(given)
    size = len(data if data is not None else (text or "").encode("utf-8", "surrogatepass"))
    if size > LARGEST:
        raise Invalid(
            f"That document has {size:,} bytes, and the most is {LARGEST:,}; nothing was written. "
            "Keep it in a file and its name in the document, or as the content of a message."
        )
    return text, data


def document(key: str, row: Row) -> Document:
    name, revision, text, data, updated_at = row
    return Document(name, data if text is None else json_value(text), revision, updated_at, key)


def find(db: Database, key: str, name: str) -> Document:
    """Raises `NotFound`."""
    row = db.row("document", leases.session_state(db, key).n, name)
    if row is None or row[2] is row[3] is None:
        raise NotFound(f"Session {key!r} has no document {name!r}.")
    return document(key, row)


@value
class Range:
    """Which documents are meant: by the beginning of their names, and between two names."""

    prefix: str = ""
    after: str = ""
    before: str = AFTER_ALL
    limit: int = EVERYTHING
    descending: bool = False


def all_of(db: Database, key: str, p: Range) -> list[Document]:
    """The documents of a range, by name."""
    session, statement = leases.session_state(db, key).n, "documents_down" if p.descending else "documents_up"
    end = min(p.before, p.prefix + AFTER_ALL)
    return [document(key, row) for row in db.rows(statement, session, p.prefix, p.after, end, p.limit)]


def named(db: Database, key: str, names: Iterable[str]) -> list[Document]:
    """The documents with these names that are there, by name."""
    rows = db.rows("documents_named", leases.session_state(db, key).n, json_list(names))
    return [document(key, row) for row in rows]


def put(db: Database, key: str, contents: Contents, expected: Mapping[str, int], now: int) -> dict[str, int]:
    """Writes documents, and deletes those with two Nones, all or none; their new revisions.

    Raises `Conflict` if one is not at the revision that is expected of it, 0 for none, and `NotFound`.
    """
    session = leases.session_state(db, key).n
    rows = db.rows("document_revisions", session, json_list({*contents, *expected}))
    known = {name: (revision, bool(exists)) for name, revision, exists in rows}
    for name, wanted in expected.items():
        revision, exists = known.get(name, (0, False))
        if wanted != (revision if exists else 0):
            there = f"is at revision {revision}" if exists else "does not exist"
            raise Conflict(
                f"Document {name!r} of {key!r} {there}, not at {wanted}; nothing was written. Read it again."
            )
    revisions = {name: 1 + known.get(name, (0, False))[0] for name in contents}
    for name, content in contents.items():
        if content == NOTHING and not known.get(name, (0, False))[1]:
            raise NotFound(f"Session {key!r} has no document {name!r}.")
    db.run_many("put_document", [(session, name, revisions[name], *contents[name], now) for name in contents])
    changes.add(db, "document", now, session)
    return revisions


def restore(db: Database, session: int, given: Document) -> None:
    """Stores a document of an archive, unless the one that is there was written later. Raises `Invalid`."""
    check_name(given.name)
    row = db.row("document", session, given.name)
    if row is None or (row[1] < given.revision and row[4] < given.updated_at):
        db.run("put_document", session, given.name, given.revision, *encode(given.value), given.updated_at)


def pages(db: Database, count: int) -> Iterator[Document]:
    """The documents of all sessions, by session and name, a page at a time."""
    at: tuple[int, str] = (0, "")
    while rows := [DocumentRow(*row) for row in db.rows("document_page", *at, count)]:
        keys: dict[int, str] = dict(db.rows("session_keys", json_list({row.session for row in rows})))
        for row in rows:
            if row.session in keys and (row.json, row.bytes) != NOTHING:
                yield document(keys[row.session], (row.name, row.revision, row.json, row.bytes, row.updated_at))
        at = rows[-1].session, rows[-1].name
