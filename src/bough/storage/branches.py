"""Segments, branches and comparisons: the shape of trees, without loading their messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bough.codec import json_list
from bough.db import Database
from bough.model import Headline
from bough.model.branches import Branch, Segment
from bough.model.times import LATEST
from bough.storage import leases, lookup, outline
from bough.storage.past import Past


class SegmentRow(NamedTuple):
    """A row of `segments`: the numbers of its first and its last message, its length, and the message before it."""

    first: int
    last: int
    messages: int
    parent: int | None


def segments(db: Database, roots: Iterable[int], past: Past | None = None) -> list[Segment]:
    """The segments below these roots, parents first. They end at forks, at leaves, and at the heads of sessions."""
    heads = [head for (head,) in db.rows("heads")] if past is None else list(past.heads())
    found = _rows(db, roots, heads, LATEST if past is None else past.time)
    ends = sorted({n for row in found for n in (row.first, row.last)})
    shown = _headlines(db, ends, past)
    return [Segment(shown[row.first], shown[row.last], row.messages) for row in found]


def branches(db: Database, key: str, past: Past | None = None) -> list[Branch]:
    """The ends of the trees that a session is in, or has added to, the newest first."""
    session = leases.session_state(db, key)
    head = session.head if past is None else past.head(key)
    roots = [n for (n,) in db.rows("roots_of_session", session.n)]
    found = _rows(db, roots, [] if head is None else [head], LATEST if past is None else past.time)
    by_last = {row.last: row for row in found}
    dialog = set()
    row = by_last.get(head or 0)
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
    shown = _headlines(db, sorted(leaves), past)
    return [Branch(shown[n], ids.get(forks[n][0] or 0), forks[n][1]) for n in leaves]


def common_length(db: Database, a: int, b: int) -> tuple[int, int]:
    """How many messages the paths of two messages have in common, and how many the second has after those."""
    other = lookup.ancestors(db, b)
    common = len(set(other).intersection(lookup.ancestors(db, a)))  # in a tree, what is common is a beginning
    return common, len(other) - common


def _rows(db: Database, roots: Iterable[int], heads: Iterable[int], until: int) -> list[SegmentRow]:
    return [SegmentRow(*row) for row in db.rows("segments", json_list(roots), json_list(heads), until)]


def _headlines(db: Database, numbers: Sequence[int], past: Past | None) -> dict[int, Headline]:
    """The headlines of these messages, which are in order, by number."""
    lines = outline.headlines(db, numbers, below=False)
    return dict(zip(numbers, lines if past is None else past.headlines(lines), strict=True))
