"""From a query to the numbers of the messages that it finds, page by page.

With words, the search index gives the candidates. Without, the messages are read backwards in windows, and one call
reads a limited number of them: a page may then be short, or empty, and still have a cursor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from bough.codec import column, json_list, uncolumn
from bough.db import Database, Value
from bough.errors import Invalid
from bough.model.search import HAS, Query, Term
from bough.model.values import replace
from bough.storage.search import spell_out

Order: TypeAlias = Literal["newest", "best"]

WINDOW = 20_000
"""Numbers of messages that one statement looks at, in a search without words."""
MOST = 200_000
"""Numbers of messages that one call looks at."""
SHORTEST = 3
"""Letters of a word that is also searched by its beginning, if nothing has all the words."""
AFTER_ALL = 2**62
_CURSOR = re.compile(r"(newest|best)(\*?) (\d{1,18})(?: (-?\d[\d.e+-]*))?")


class Page(NamedTuple):
    """The messages of one page by number, and where the next one begins; None at the end."""

    numbers: list[int]
    next: Cursor | None
    by_beginning: bool = False


class Cursor(NamedTuple):
    """A place in the results: after the message with this number, or with this rank and number."""

    order: Order
    by_beginning: bool = False
    before: int = AFTER_ALL
    rank: float | None = None

    def __str__(self) -> str:
        rank = "" if self.rank is None else f" {self.rank!r}"
        return f"{self.order}{'*' if self.by_beginning else ''} {self.before}{rank}"


def parse_cursor(text: str | None, order: Order) -> Cursor:
    """The cursor with this text; the one before everything for None. Raises `Invalid`."""
    if text is None:
        return Cursor(order)
    found = _CURSOR.fullmatch(text) if isinstance(text, str) else None
    if not found or found[1] != order:
        raise Invalid(f"{text!r:.60} is no cursor of a search with order={order!r}; pass `next` of its last page.")
    try:
        return Cursor(order, bool(found[2]), int(found[3]), None if found[4] is None else float(found[4]))
    except ValueError:
        raise Invalid(f"{text!r:.60} is no cursor; pass `next` of the last page.") from None


def asked(words: str | Query, filters: Mapping[str, Any], syntax: bool) -> Query:
    """The query of a call of `search`: the given filters replace those of a `Query`. Raises `Invalid`."""
    if isinstance(words, Query):
        query = words
    elif not isinstance(words, str):
        raise Invalid(f"A search is for words, or for a Query, not {words!r:.60}.")
    else:
        query = Query(fts=words) if syntax else Query(tuple(Term(word) for word in words.split()))
    return replace(query, **{name: given for name, given in filters.items() if given is not None})


def page(
    db: Database, query: Query, cursor: Cursor, limit: int, offset: int, *, everything: bool = False
) -> Page:  # fmt: skip
    """The next page of what a query finds. An empty one finds nothing, or `everything`."""
    if not everything and replace(query, notes=()) == Query():
        return Page([], None)
    filters = _filters(db, query)
    if query.fts is None and all(term.excluded for term in query.terms):
        return _list(db, filters, query.label is not None, cursor, limit, offset)
    match = query.fts if query.fts is not None else expression(query.terms, cursor.by_beginning)
    if match is None:
        return Page([], None)
    found = _matches(db, match, filters, cursor, limit, offset)
    is_first = not offset and cursor == Cursor(cursor.order)
    if found.numbers or not is_first or query.fts is not None or not has_beginnings(query.terms):
        return found
    match = expression(query.terms, by_beginning=True)
    beginning = _matches(db, match or "", filters, Cursor(cursor.order, True), limit, 0)
    return beginning if beginning.numbers else found


def _matches(db: Database, match: str, filters: tuple[Value, ...], cursor: Cursor, limit: int, offset: int) -> Page:
    """A page of the messages with some words."""
    params = (db.query(match), cursor.before, limit + 1, offset, *filters)
    if cursor.order == "newest":
        rows = [(n, None) for (n,) in db.rows("search_newest", *params)]
    else:
        rows = db.rows("search_ranked", *params, cursor.rank)
    after = None
    if len(rows) > limit:
        rows.pop()
        last, rank = rows[-1] if rows else (cursor.before, cursor.rank)
        after = cursor._replace(before=last, rank=rank)
    return Page([n for n, _ in rows], after, cursor.by_beginning)


def _list(db: Database, filters: tuple[Value, ...], labelled: bool, cursor: Cursor, limit: int, offset: int) -> Page:
    """A page of the messages that the filters allow."""
    if labelled:
        numbers = [n for (n,) in db.rows("search_labelled", 0, cursor.before, limit + 1, offset, *filters)]
        more = len(numbers) > limit
        del numbers[limit:]
        return Page(numbers, cursor._replace(before=numbers[-1] if numbers else cursor.before) if more else None)
    ((_, _, newest),) = db.rows("search_state")
    top = min(cursor.before, newest + 1)
    end, numbers = max(0, top - MOST), []
    wanted = offset + limit
    while top > end and len(numbers) <= wanted:
        floor = max(end, top - WINDOW)
        numbers += [n for (n,) in db.rows("search_list", floor, top, wanted + 1 - len(numbers), 0, *filters)]
        top = floor
    if len(numbers) > wanted:
        last = numbers[wanted - 1] if wanted else cursor.before
        return Page(numbers[offset:wanted], cursor._replace(before=last))
    return Page(numbers[offset:], cursor._replace(before=top) if top > 0 else None)


# Terms --------------------------------------------------------------------------------------------------------------


def expression(terms: tuple[Term, ...], by_beginning: bool = False) -> str | None:
    """The terms in the syntax of FTS5; None if there is no word to find."""
    wanted = [text for term in terms if not term.excluded and (text := _quoted(term, by_beginning))]
    if not wanted:
        return None
    unwanted = [text for term in terms if term.excluded and (text := _quoted(term))]
    return " ".join([*wanted, *(f"NOT {text}" for text in unwanted)])


def has_beginnings(terms: tuple[Term, ...]) -> bool:
    """Whether one of the terms is also searched by its beginning."""
    return any(map(_is_beginning, terms))


def _is_beginning(term: Term) -> bool:
    return term.kind == "word" and not term.excluded and len(re.findall(r"\w", term.text)) >= SHORTEST


def _quoted(term: Term, by_beginning: bool = False) -> str | None:
    text = spell_out(term.text).replace('"', " ").replace("\0", " ")
    if not re.search(r"\w", text):
        return None
    return f'"{text}" *' if term.kind == "beginning" or (by_beginning and _is_beginning(term)) else f'"{text}"'


# Filters ------------------------------------------------------------------------------------------------------------


def _filters(db: Database, query: Query) -> tuple[Value, ...]:
    """The parameters of the fragment `search_filters`, from the fifth on."""
    excluded = [text for term in query.terms if term.excluded and (text := _quoted(term))]
    unwanted = None
    if excluded and all(term.excluded for term in query.terms):  # else they are in the expression
        unwanted = db.query(" OR ".join(excluded))
    has = sum(1 << HAS.index(name) for name in set(query.has))
    of_turn = (query.channel, query.directory, query.status, query.min_cost, query.max_cost)
    directories = [] if query.directory is None else _directories(db, query.directory)
    return (
        query.role, column(query.label), query.since, query.until, query.session,
        unwanted, has, _pattern(query.model), _pattern(query.tool), query.status,
        int(any(given is not None for given in of_turn)), column(query.channel), int(query.directory is not None),
        json_list(directories), query.min_cost, query.max_cost,
    )  # fmt: skip


def _pattern(name: str | None) -> str | None:
    """A name with stars as a pattern of LIKE, in lower case."""
    return None if name is None else column(re.sub(r"[!%_]", r"!\g<0>", name.lower()).replace("*", "%"))


def _directories(db: Database, wanted: str) -> list[str]:
    """The directories of sessions that are this one or below it; a bare name is that of a directory anywhere."""
    stored = [(directory, uncolumn(directory) or "") for (directory,) in db.rows("directories_of_sessions")]
    parts = re.split(r"[/\\]", wanted)
    if len(parts) == 1:
        return [directory for directory, path in stored if wanted in re.split(r"[/\\]", path)]
    if not parts[-1]:
        del parts[-1]
    return [directory for directory, path in stored if re.split(r"[/\\]", path)[: len(parts)] == parts]
