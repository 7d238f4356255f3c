"""Facets: which values the filters of a search have among what it finds, and how often."""

from __future__ import annotations

from bough.codec import json_list, uncolumn
from bough.db import Database
from bough.model.search import Facet, Facets, Query
from bough.storage import search_query
from bough.storage.search_query import Cursor


def facets(db: Database, query: Query, most: int) -> Facets:
    """The facets of what a query finds; of all messages for an empty one."""
    numbers, is_complete = _found(db, query, most)
    rows: dict[str, list[Facet]] = {}
    for filter, name, messages, sessions in db.rows("facets", json_list(numbers)):
        rows.setdefault(filter, []).append(Facet(uncolumn(name), messages, sessions))
    for found in rows.values():
        found.sort(key=lambda facet: (-facet.messages, facet.name or ""))
    return Facets(len(numbers), is_complete, **{filter: tuple(found) for filter, found in rows.items()})


def _found(db: Database, query: Query, most: int) -> tuple[list[int], bool]:
    """The newest messages that a query finds, and whether these are all."""
    numbers: list[int] = []
    cursor: Cursor | None = Cursor("newest")
    while cursor is not None and len(numbers) < most:
        page = search_query.page(db, query, cursor, most - len(numbers), 0, everything=True)
        numbers += page.numbers
        cursor = page.next
    return numbers, cursor is None
