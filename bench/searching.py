"""Search compared with FTS5 over the same texts, and building the index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import bough
from bench.measure import Result, Scale, contest, duration, seconds
from bench.raw import Raw, Row
from bench.rows import prepared
from bench.workload import Conversation, conversation, dialog

LIMIT = 20
TALK = 1_000
"""Messages in one conversation."""
QUERIES = ("generator", "exception handler", "metaclass", "self._read", "weak reference", "the", "zipfile member")

CREATE = "CREATE VIRTUAL TABLE words USING fts5 (said, tokenize='unicode61 remove_diacritics 2')"
FILL = """
INSERT INTO words (rowid, said)
SELECT message, group_concat(ifnull(name || ' ', '') || content, char(10))
FROM (SELECT n AS message, name, content FROM messages UNION ALL SELECT message, name, content FROM blocks)
WHERE content IS NOT NULL GROUP BY message"""
FIND = """
SELECT m.id, m.parent, m.role, m.created_at, s.key, f.said, snippet(words, 0, '', '', '…', 24)
FROM words f JOIN messages m ON m.n = f.rowid JOIN turns t ON t.n = m.turn JOIN sessions s ON s.n = t.session
WHERE words MATCH ? ORDER BY {order} LIMIT ?"""
FIND_NEWEST, FIND_BEST = FIND.format(order="f.rowid DESC"), FIND.format(order="f.rank")


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    raw = Raw(directory / "search-raw.db")
    with bough.connect(directory / "search.db") as store:
        for number in range(max(1, scale.indexed // TALK)):
            fill(store, raw, f"cli:{number}", conversation(min(TALK, scale.indexed), seed=number))
        mine = seconds(store.index)
        theirs = seconds(lambda: index(raw))
        yield Result(
            f"build the index of {scale.indexed:,} messages",
            mine / theirs,
            at_most=1.5,
            detail=f"{duration(mine)} : {duration(theirs)}",
        )
        for order, statement in (("newest", FIND_NEWEST), ("best", FIND_BEST)):
            yield compare(scale, store, raw, order, statement)  # type: ignore[arg-type]
    raw.close()


def fill(store: bough.Store, raw: Raw, key: str, talk: Conversation) -> None:
    store.session(key).record(dialog(talk))
    raw.session(key)
    raw.load(key, prepared(talk))


def index(raw: Raw) -> None:
    raw.connection.execute(CREATE)
    raw.connection.execute(FILL)


def compare(scale: Scale, store: bough.Store, raw: Raw, order: Literal["newest", "best"], statement: str) -> Result:
    """All queries once in each round."""

    def find(query: str) -> list[Row]:
        quoted = " ".join(f'"{word}"' for word in query.split())
        return raw.connection.execute(statement, (quoted, LIMIT)).fetchall()

    def search(query: str) -> list[bough.Hit]:
        return store.search(query, order=order, limit=LIMIT)

    for query in QUERIES:
        assert len(find(query)) == len(search(query)), query
    found = contest(
        scale.rounds, lambda _: lambda: list(map(search, QUERIES)), lambda _: lambda: list(map(find, QUERIES))
    )
    name = f"search {scale.indexed:,} messages, {order} first"
    return Result(name, found.ratio, at_most=1.3, detail=found.detail(len(QUERIES)))
