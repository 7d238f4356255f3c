"""Everything as it is, one object a line: what an import turns into an equal store again.

Messages come first, parents before children; then the sessions, the turns, and what others call them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from bough.formats.archive import encode_header
from bough.formats.records import Record, encode_record

if TYPE_CHECKING:
    from bough.model import Node
    from bough.store import Store

OWN = ("bough", "bough:conversation")
"""The names that an import of such a file gives: the ids that are in it anyway."""


def everything(store: Store) -> Iterator[str]:
    """A whole store; a few messages of it are in memory at a time."""
    yield header()
    yield from map(line, store.list_messages(ascending=True))
    yield from map(line, reversed(store.sessions()))
    yield from map(line, store.list_turns())
    yield from (line(name) for name in store.list_names() if name.kind not in OWN)


def some(store: Store, ids: Sequence[str], branches: bool = False) -> Iterator[str]:
    """The dialogs that lead to these messages, or their whole trees, with the sessions that stand in them."""
    yield header()
    seen: set[str] = set()
    for node in _nodes(store, ids, branches):
        if node.id not in seen:
            seen.add(node.id)
            yield line(node)
    yield from (line(info) for info in reversed(store.sessions()) if info.head_id in seen)
    told = list(seen)
    yield from (line(turn) for turn in store.list_turns(told) if turn.last_id in seen)
    yield from (line(name) for name in store.list_names(told) if name.kind not in OWN)


def _nodes(store: Store, ids: Sequence[str], branches: bool) -> Iterator[Node]:
    for id in ids:
        path = store.path(id)
        yield from (tree.node for _, tree in store.forest(path[0].id)[0].walk()) if branches else path


def header() -> str:
    return json.dumps(encode_header()) + "\n"


def line(record: Record) -> str:
    """In ASCII, so that every text survives every file, lone surrogates included."""
    return json.dumps(encode_record(record)) + "\n"
