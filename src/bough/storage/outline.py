"""Headlines: the places and the first words of messages, without loading their content, for lists and trees."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice

from bough.codec import BESIDE, json_list, uncolumn
from bough.compress import decompress, decompress_chunks
from bough.db import Database, Row
from bough.model import Headline, Size
from bough.model.tree import Tree, grow
from bough.storage import lookup

WORDS = 240
"""Characters of a message in a headline."""
BEGINNING = 8192
TREES = 20
"""Trees that are read together."""
NEVER = 2**62

# The columns of the `outline` statement.
N, ID, PARENT, TURN, ROLE, KIND, LABEL, CREATED_AT, STATUS, TYPE, NAME, CONTENT, PACKED, BLOB, ENCODING = range(15)


def headlines(db: Database, numbers: Iterable[int], *, below: bool) -> list[Headline]:
    """The headlines of these messages, and of their descendants if `below`, oldest first."""
    rows = db.rows("outline", json_list(numbers), WORDS, int(below))
    ids: dict[int, str] = {row[N]: row[ID] for row in rows}
    named = {row[place] for row in rows for place in (PARENT, TURN)} - {None}
    ids |= lookup.ids_of(db, sorted(named - ids.keys()))
    standing: dict[int, tuple[str, ...]] = {}
    for n, key in db.rows("sessions_at_heads", json_list(row[N] for row in rows)):
        standing[n] = (*standing.get(n, ()), key)
    return [_headline(db, row, ids, standing.get(row[N], ())) for row in rows]


def root_above(db: Database, number: int) -> int:
    """The root of the tree of a message."""
    ((root,),) = db.rows("roots_above", json_list([number]))
    return int(root)


def recent_roots(db: Database, limit: int | None, subagents: bool) -> list[int]:
    """The roots of at least the `limit` most recently active trees; all roots without a limit."""
    if limit is None:
        return [n for (n,) in db.rows("roots", int(subagents))]
    roots: set[int] = set()
    before = NEVER
    while len(roots) < limit:
        leaves = [n for (n,) in db.rows("recent_leaves", before, int(subagents), limit)]
        if not leaves:
            break
        roots |= {n for (n,) in db.rows("roots_above", json_list(leaves))}
        before = leaves[-1]
    return sorted(roots)


def ordered_roots(db: Database, subagents: bool) -> list[int]:
    """The roots of all trees, the most recently active last.

    Most messages follow the one with the number before theirs. Only the first messages of such runs are read, and a
    tree is as recent as the last run in it.
    """
    listed = {n: bool(is_listed) for n, is_listed in db.rows("first_messages", int(subagents))}
    starts = sorted([*((n, n) for n in listed), *db.rows("later_children")])
    numbers = array("q", (n for n, _ in starts))
    roots = array("q")
    ordered: dict[int, None] = {}
    for n, parent in starts:
        above = bisect_right(numbers, parent) - 1 if parent < n else -1
        root = roots[above] if above >= 0 else n  # as a root where the parent is not stored
        roots.append(root)
        ordered.pop(root, None)
        ordered[root] = None
    return [root for root in ordered if listed.get(root, True)]


def trees(db: Database, roots: Iterable[int]) -> Iterator[Tree[Headline]]:
    """The trees that begin at these messages, in this order; a few are in memory at a time."""
    left = iter(roots)
    while some := list(islice(left, TREES)):
        with db.reading():
            lines = headlines(db, sorted(some), below=True)
        yield from grow(lines)


def size(db: Database) -> Size:
    """Counts of the whole store."""
    row = db.row("size")
    assert row is not None
    return Size(*row)


def _headline(db: Database, row: Row, ids: dict[int, str], sessions: tuple[str, ...]) -> Headline:
    return Headline(
        row[ID], ids.get(row[PARENT]), row[CREATED_AT], row[ROLE], _words(db, row), uncolumn(row[LABEL]),
        ids.get(row[TURN]), row[KIND] or "message", row[STATUS], sessions,
    )  # fmt: skip


def _words(db: Database, row: Row) -> str:
    """The first words of a message; in brackets, the name or the type of what has none."""
    kind, name = row[TYPE], uncolumn(row[NAME])
    if kind in (None, *BESIDE):
        return ""
    if kind in ("media", "other"):
        return f"[{name or kind}]"
    try:
        text = _beginning(db, row)
    except ValueError:
        return "[damaged; run verify()]"
    return f"{name}({text})" if kind == "tool_call" else text


def _beginning(db: Database, row: Row) -> str:
    if row[CONTENT] is not None or (row[PACKED] is None and row[BLOB] is None):
        return row[CONTENT] or ""
    if row[PACKED] is not None:
        return decompress(row[PACKED]).decode("utf-8", "surrogatepass")[:WORDS]
    stored = db.blob_chunks(row[BLOB], BEGINNING)
    pieces = decompress_chunks(stored, BEGINNING) if row[ENCODING] == "zstd" else stored
    start = b"".join(islice(pieces, 1))
    # The chunk may end inside a character, but the headline ends long before.
    return start.decode("utf-8", "replace")[:WORDS]
