"""Segments, branches and comparisons: the shape of trees, without loading their messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from bough.codec import json_list
from bough.db import Database
from bough.model.branches import Branch, Segment
from bough.storage import leases, lookup, outline


class SegmentRow(NamedTuple):
    """A row of `segments`: the numbers of its first and its last message, its length, and the message before it."""

    first: int
    last: int
    messages: int
    parent: int | None


def segments(db: Database, roots: Iterable[int]) -> list[Segment]:
    """The segments below these roots, parents first. They end at forks, at leaves, and at the heads of sessions."""
    heads = [head for (head,) in db.rows("heads")]
    found = _rows(db, roots, heads)
    ends = sorted({n for row in found for n in (row.first, row.last)})
    shown = dict(zip(ends, outline.headlines(db, ends, below=False), strict=True))
    return [Segment(shown[row.first], shown[row.last], row.messages) for row in found]


def branches(db: Database, key: str) -> list[Branch]:
    """The ends of the trees that a session is in, or has added to, the newest first."""
    session = leases.session_state(db, key)
    roots = [n for (n,) in db.rows("roots_of_session", session.n)]
    found = _rows(db, roots, [] if session.head is None else [session.head])
    by_last = {row.last: row for row in found}
    dialog = set()
    row = by_last.get(session.head or 0)
    while row is not None:  # the head ends a segment, so that each is on the dialog as a whole, or not at all
        dialog.add(row.last)
        row = by_last.get(row.parent or 0)
    forks: dict[int, tuple[int | None, int]] = {0: (None, 0)}
    for row in found:
        fork, messages = forks[row.parent or 0]
        forks[row.last] = (row.last, 0) if row.last in dialog else (fork, messages + row.messages)
    inner = {row.parent for row in found}
    leaves = sorted((row.last for row in found if row.last not in inner), reverse=True)
    ids = lookup.ids_of(db, {fork for leaf in leaves if (fork := forks[leaf][0]) is not None})
    shown = dict(zip(sorted(leaves), outline.headlines(db, leaves, below=False), strict=True))
    return [Branch(shown[n], ids.get(forks[n][0] or 0), forks[n][1]) for n in leaves]


def common_length(db: Database, a: int, b: int) -> tuple[int, int]:
    """How many messages the paths of two messages have in common, and how many the second has after those."""
    other = lookup.ancestors(db, b)
    common = len(set(other).intersection(lookup.ancestors(db, a)))  # in a tree, what is common is a beginning
    return common, len(other) - common


def _rows(db: Database, roots: Iterable[int], heads: Iterable[int]) -> list[SegmentRow]:
    return [SegmentRow(*row) for row in db.rows("segments", json_list(roots), json_list(heads))]
