"""What a search asks for, and what it finds."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bough.errors import Invalid
from bough.model.arguments import one_of
from bough.model.messages import ROLES, Role
from bough.model.nodes import STATUSES, Hit, Status
from bough.model.times import moment
from bough.model.values import value

if TYPE_CHECKING:
    from datetime import datetime

Has: TypeAlias = Literal["image", "file", "tool", "error", "branch"]
"""What a message can have: a picture, any media, a tool call, an error (its own or of a tool), several answers."""
HAS: tuple[Has, ...] = get_args(Has)

TermKind: TypeAlias = Literal["word", "phrase", "beginning"]


@value
class Term:
    """Something to find in a message: a word, words in this order, or the beginning of a word."""

    text: str
    kind: TermKind = "word"
    excluded: bool = False
    """Whether it must not occur."""


@value
class Query:
    """What `search` looks for. All terms and all filters must hold; a filter that is None allows everything.

    `parse_query` makes one of what a person typed.
    """

    terms: tuple[Term, ...] = ()
    session: str | None = None
    """The key of a session: what is on its path, and what its turns added."""
    channel: str | None = None
    """Where the session is from: `cli`, `telegram`, `claude-code` …"""
    role: Role | None = None
    label: str | None = None
    model: str | None = None
    """The replies of this model, in any case; a star stands for any characters."""
    tool: str | None = None
    """The calls and results of this tool, in any case; a star stands for any characters."""
    directory: str | None = None
    """Sessions in this directory or below it; a name without a slash is that of a directory anywhere."""
    since: int | None = None
    until: int | None = None
    min_cost: float | None = None
    """Messages of turns that cost at least this, in dollars."""
    max_cost: float | None = None
    has: tuple[Has, ...] = ()
    status: Status | None = None
    """Messages of turns that ended like this."""
    fts: str | None = None
    """A query in the syntax of FTS5, in place of the terms."""
    notes: tuple[str, ...] = ()
    """What `parse_query` did not understand, and took for words: a sentence each."""

    def __post_init__(self) -> None:
        one_of("role", self.role, ROLES)
        one_of("status", self.status, STATUSES)
        for what in self.has:
            one_of("has", what, HAS)
        for name, cost in (("min_cost", self.min_cost), ("max_cost", self.max_cost)):
            if cost is not None and (isinstance(cost, bool) or not isinstance(cost, (int, float)) or isnan(cost)):
                raise Invalid(f"{name} is a number of dollars, not {cost!r:.60}.")

    @property
    def wanted(self) -> str:
        """The texts that are looked for, for a snippet or to be highlighted."""
        return self.fts or " ".join(term.text for term in self.terms if not term.excluded)

    @property
    def needs_index(self) -> bool:
        """Whether it asks for words."""
        return self.fts is not None or bool(self.terms)


class Hits(list[Hit]):
    """The hits of one page, in the order that was asked for."""

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        next: str | None = None,
        by_beginning: bool = False,
        waiting: int = 0,
        notes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(hits)
        self.next = next
        """The `cursor` of the next page; None at the end. A page before the end may have fewer hits than its limit."""
        self.by_beginning = by_beginning
        """Whether no message has all the words, and these have words that begin with them."""
        self.waiting = waiting
        """The number of messages that were not searched, because they are not indexed."""
        self.notes = notes
        """What was not understood of the query, a sentence each."""


@value
class IndexStatus:
    """How far the search index is."""

    waiting: int
    """The number of messages that are not indexed."""
    share: float
    """How much is indexed, from 0 to 1."""
    searched_at: int | None = None
    """The time of the last message that is indexed, in microseconds since 1970, UTC."""

    @property
    def searched(self) -> datetime | None:
        """`searched_at` as a datetime in UTC."""
        return moment(self.searched_at)


@value
class Facet:
    """How often one value of a filter occurs among the messages that a search finds."""

    name: str | None
    """The value to filter by; None for messages without one."""
    messages: int
    sessions: int
    """The number of sessions whose turns added these messages."""


@value
class Facets:
    """The values of the filters of `Query` among what it finds, each list with the most frequent first."""

    messages: int
    """The number of messages that were counted: the newest ones that the query finds."""
    is_complete: bool
    """Whether these are all that it finds."""
    role: tuple[Facet, ...] = ()
    channel: tuple[Facet, ...] = ()
    directory: tuple[Facet, ...] = ()
    model: tuple[Facet, ...] = ()
    """Of the replies."""
    tool: tuple[Facet, ...] = ()
    """Of calls and their results."""
    label: tuple[Facet, ...] = ()
    status: tuple[Facet, ...] = ()
    has: tuple[Facet, ...] = ()
