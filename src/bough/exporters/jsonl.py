"""Lossless JSONL, one object per line, from which an import creates an equal store.

Messages come first, parents before children; then sessions, documents, replies, turns, external ids, and pins.
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
"""External ids that an import of such a file creates; they repeat ids that the file contains anyway."""


def everything(store: Store) -> Iterator[str]:
    """The whole store, streamed."""
    yield header()
    yield from map(line, store.list_messages(ascending=True))
    yield from map(line, reversed(store.sessions()))
    yield from map(line, store.list_documents())
    yield from map(line, store.list_replies())
    yield from map(line, store.list_turns())
    yield from (line(name) for name in store.list_names() if name.kind not in OWN)
    yield from map(line, reversed(store.pins()))


def some(store: Store, ids: Sequence[str], branches: bool = False) -> Iterator[str]:
    """The dialogs up to these messages, or their whole trees, with the sessions whose heads are in them."""
    yield header()
    seen: set[str] = set()
    for node in _nodes(store, ids, branches):
        if node.id not in seen:
            seen.add(node.id)
            yield line(node)
    sessions = [info for info in reversed(store.sessions()) if info.head_id in seen]
    yield from map(line, sessions)
    for info in sessions:
        yield from map(line, store.session(info.key).documents())
    written = list(seen)
    turns = [turn for turn in store.list_turns(written) if turn.last_id in seen]
    whole = {None, *(turn.id for turn in turns)}
    yield from (line(reply) for reply in store.list_replies(written) if reply.turn_id in whole)
    yield from map(line, turns)
    yield from (line(name) for name in store.list_names(written) if name.kind not in OWN)
    yield from (line(pin) for pin in reversed(store.pins()) if pin.message_id in seen)


def _nodes(store: Store, ids: Sequence[str], branches: bool) -> Iterator[Node]:
    for id in ids:
        path = store.path(id)
        yield from (tree.node for _, tree in store.forest(path[0].id)[0].walk()) if branches else path


def header() -> str:
    """The first line: the version of the format."""
    return json.dumps(encode_header()) + "\n"


def line(record: Record) -> str:
    """A record as one line of ASCII, so that every text survives, lone surrogates included."""
    return json.dumps(encode_record(record)) + "\n"
