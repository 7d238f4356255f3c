"""Deleting and copying checkpoints: the documents of a session that has some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bough.adapters.common import json_of
from bough.adapters.langgraph import values
from bough.errors import Conflict
from bough.model import Document, Json
from bough.model.keys import DELEGATE
from bough.session import Session

CHECKPOINT = "checkpoint/"
WRITES = "writes/"
DELTAS = "counters_since_delta_snapshot"
"""In the metadata of a checkpoint: the channels that are rebuilt from what was written since an ancestor."""


def keep_latest(session: Session) -> None:
    """Deletes all checkpoints but the newest, and the ancestors that it is rebuilt from."""
    found = {document.name: json_of(document) for document in session.documents(CHECKPOINT)}
    if not found:
        return
    kept = at = max(found)
    needed = {kept}
    missing = set((found[at]["metadata"].get(DELTAS) or {}).keys()) - found[at]["values"].keys()
    while missing and (parent := found[at]["parent"]) and (at := CHECKPOINT + parent) in found:
        needed.add(at)
        missing -= found[at]["values"].keys()
    delete(session, lambda document: document.name not in needed)


def delete(session: Session, is_wanted: Callable[[Document], bool]) -> None:
    """Deletes checkpoints with their writes, and the values that nothing refers to any more."""
    found = session.documents(CHECKPOINT)
    doomed = {document.name for document in found if is_wanted(document)}
    if not doomed:
        return
    ids = {name.removeprefix(CHECKPOINT) for name in doomed}
    writes = session.documents(WRITES)
    gone = [document.name for document in writes if document.name.split("/")[1] in ids]
    left = [document for document in [*found, *writes] if document.name not in doomed and document.name not in gone]
    used = values.digests(reference for document in left for reference in references(json_of(document)))
    held = session.documents(values.PREFIX)
    unused = [document.name for document in held if document.name.split("/")[1] not in used]
    session.put_documents({}, delete=[*doomed, *gone, *unused])


def references(document: Json) -> Iterator[Json]:
    """The references in the document of a checkpoint, or of writes."""
    if "writes" in document:
        yield from (reference for _, reference in document["writes"].values())
        return
    yield document["checkpoint"]
    yield from document["values"].values()


def tips(documents: Iterable[Document]) -> set[str]:
    """The nodes at which the lists of messages end."""
    found: set[Any] = set()
    for document in documents:
        found |= {reference[1] for reference in json_of(document)["values"].values() if reference[0] == "path"}
    return found


def copy(source: Session, target: Session) -> None:
    """Copies the documents of a session, and makes the target reach the messages that they refer to."""
    documents = source.documents()
    target.put_documents({document.name: json_of(document) for document in documents})
    head = source.head
    if head is not None:
        target.move(head)
    reached = {node.id for node in source.path()}
    for tip in sorted(tips(document for document in documents if document.name.startswith(CHECKPOINT)) - reached):
        try:
            source.fork(at=tip, key=f"{target.key}{DELEGATE}branch-{tip}")
        except Conflict:
            continue
