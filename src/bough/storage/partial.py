"""Partial replies: what a stream has delivered so far is stored, and survives a crash.

An answer to an existing question is known by its first message, a reply, so that its turn has none while that is being
written. Until then the row of the turn has a number below zero, and its sketch has the id that the reply will get.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bough.codec import json_list
from bough.db import Database
from bough.errors import Conflict, Invalid
from bough.model import Block, Message, Text, Thinking
from bough.model.turns import RunningReply
from bough.storage import lookup
from bough.storage.messages import Entry, Saved, insert, prepare
from bough.storage.rows import RunningTurn


class Sketch(NamedTuple):
    """A partial reply as it is stored."""

    label: str | None
    pairs: Sequence[Sequence[str]] = ()
    """The type of each block, and its text."""
    id: str | None = None
    """Of an answer without a message: the id of its first one,"""
    halves: Sequence[int] = ()
    """and the half replies of the turn that it resumes."""


class Settled(NamedTuple):
    """A turn whose partial reply has become a message: the number of the turn, its last message, and whether that is
    empty."""

    turn: int
    last: int
    is_empty: bool


def keep(db: Database, turn: int, reply: Entry) -> None:
    """Stores a turn's reply so far, instead of the one stored before. Raises `Invalid`."""
    blocks = [block for block in reply.message.blocks if isinstance(block, (Text, Thinking))]
    if len(blocks) < len(reply.message.blocks):
        raise Invalid("A reply that is still being written is kept as text and thinking only; nothing was kept.")
    pairs = [["text" if isinstance(block, Text) else "thinking", block.text] for block in blocks]
    before = find(db, turn) if turn < 0 else None
    put(db, turn, Sketch(reply.label, pairs) if before is None else before._replace(label=reply.label, pairs=pairs))


def replies(db: Database, running: Iterable[RunningTurn]) -> list[RunningReply]:
    """The replies that running turns are receiving, without those of which nothing has come."""
    found = []
    for turn in running:
        sketch = find(db, turn.n)
        if sketch is not None and sketch.pairs:
            id = sketch.id if turn.n < 0 else lookup.id_of(db, turn.n)
            message = Message("assistant", blocks_of(sketch))
            found.append(RunningReply(id, lookup.id_of(db, turn.parent), turn.key, message))
    return found


def blocks_of(sketch: Sketch) -> tuple[Block, ...]:
    return tuple(Text(text) if kind == "text" else Thinking(text) for kind, text in sketch.pairs)


def put(db: Database, turn: int, sketch: Sketch) -> None:
    db.run("set_sketch", turn, json.dumps(sketch))


def find(db: Database, turn: int) -> Sketch | None:
    row = db.row("sketch", turn)
    return None if row is None else Sketch(*json.loads(row[0]))


def settle(db: Database, turn: int, now: int) -> Settled | None:
    """Adds a stored partial reply to its turn as the last message, marked as an error; None if there was none.

    An answer without a message gets an empty one, or that of the turn that it resumes.
    """
    sketch = find(db, turn)
    span = None if sketch is None else lookup.span(db, turn)
    if sketch is None or span is None:
        return None
    if not sketch.pairs and sketch.halves:
        half = sketch.halves[-1]
        _renumber(db, turn, half, half, sketch.halves)
        return Settled(half, half, True)
    blocks = blocks_of(sketch)
    (entry,) = prepare([Message("assistant", blocks, error=True)], sketch.label)  # it passed `Store.prepare` before
    if turn < 0:
        saved = begin(db, turn, [entry], now)
        return Settled(saved.first, saved.last, not blocks)
    entry.parent = span.last
    saved = insert(db, [entry], now, turn)
    db.run("drop_sketch", turn)
    db.run("cut_turn", saved.last, turn)
    return Settled(turn, saved.last, False)


def begin(db: Database, turn: int, entries: list[Entry], now: int) -> Saved:
    """Stores the first messages of an answer, which give the turn its number. Raises `Conflict`."""
    sketch, span = find(db, turn), lookup.span(db, turn)
    if sketch is None or span is None:
        raise Conflict("The question was deleted, or another writer took its session; nothing was added.")
    entries[0].parent, entries[0].id = span.parent, sketch.id
    saved = insert(db, entries, now, turn=0)
    _renumber(db, turn, saved.first, saved.last, sketch.halves)
    return saved


def unbegin(db: Database, turn: int, question: int, label: str | None, id: str) -> int:
    """Gives a turn that is only a half reply a number below zero, so that another reply can begin it; the number."""
    halves = [n for (n,) in db.rows("half_answers", question, turn)]
    n = free_number(db)
    _renumber(db, turn, n, question, halves)
    put(db, n, Sketch(label, (), id, halves))
    return n


def free_number(db: Database) -> int:
    """A number for an answer without a message."""
    (lowest,) = db.row("lowest_turn") or (None,)
    return min(lowest or 0, 0) - 1


def forget(db: Database, turn: int) -> None:
    """Deletes an answer without a message."""
    db.run("drop_sketch", turn)
    db.run("delete_reply", turn)
    db.run("delete_turn", turn)


def _renumber(db: Database, turn: int, n: int, last: int, halves: Sequence[int]) -> None:
    db.run("renumber_turn", n, last, turn)
    db.run("renumber_reply", n, turn)
    if halves:
        db.run("give_messages", n, json_list(halves))
    db.run("drop_sketch", turn)


def without_half_reply(db: Database, turn: int, last: int) -> int:
    """The last whole message of a turn: a half reply at its end becomes a side branch, and is not sent again."""
    row = db.row("half_reply", last) if last != turn else None
    if row is None:
        return last
    (whole,) = row
    db.run("cut_turn", whole, turn)
    return int(whole)
