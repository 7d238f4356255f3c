"""Replies: who gave each one, what it cost and when. The figures of a turn are the sums of its replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bough.codec import json_list, reply_info, totals
from bough.db import Database
from bough.db.rows import ReplyRow, TurnRow
from bough.errors import Invalid, NotFound
from bough.model import Message, ReplyInfo, Totals, Usage
from bough.model.arguments import at_least
from bough.model.times import micros
from bough.model.usage import NOTHING
from bough.model.values import replace, value
from bough.storage import lookup

if TYPE_CHECKING:
    from bough.model.times import Time

Group: TypeAlias = Literal["model", "provider", "session", "agent", "label", "day"]
"""What replies can have in common."""
Pair: TypeAlias = tuple[Group, Group]
GROUPS = get_args(Group)
PAGE = 200
LAST = 2**62
"""After every number of a message."""


@value
class ReplyDetails:
    """How one reply came about."""

    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    usage: Usage = NOTHING
    started_at: int | None = None
    first_token_at: int | None = None

    def completed_by(self, other: ReplyDetails) -> ReplyDetails:
        """With what another one says where this one says nothing."""
        return ReplyDetails(
            either(self.model, other.model), either(self.provider, other.provider),
            either(self.request_id, other.request_id), other.usage if self.usage == Usage() else self.usage,
            self.started_at, self.first_token_at,
        )  # fmt: skip


UNKNOWN = ReplyDetails()


def add(db: Database, message: int, turn: int | None, session: int, p: ReplyDetails, finished: int) -> None:
    """Stores the details of a reply, if there are any. To a message that has some already, they are added."""
    if p != UNKNOWN:
        db.run("add_reply", *reply_row(message, turn, session, p, finished))


def reply_row(message: int, turn: int | None, session: int, p: ReplyDetails, finished: int) -> ReplyRow:
    u = p.usage
    return ReplyRow(
        message, turn, session, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost,
        p.started_at, p.first_token_at, finished,
    )  # fmt: skip


def reply_of(turn: TurnRow) -> ReplyRow | None:
    """The figures of a turn from a store without replies, as its only reply; None if it has no figures."""
    usage = Usage(turn.input_tokens, turn.output_tokens, turn.cached_tokens, turn.reasoning_tokens, turn.cost)
    p = ReplyDetails(turn.model, turn.provider, turn.request_id, usage)
    if p == UNKNOWN:
        return None
    finished = turn.started_at if turn.finished_at is None else turn.finished_at
    p = replace(p, first_token_at=turn.first_token_at)
    return reply_row(turn.last, turn.n, turn.session, p, finished)


def sum_turns(db: Database, turns: Iterable[int | None]) -> None:
    """Updates the figures of turns to the sums of their replies."""
    if wanted := {turn for turn in turns if turn is not None}:
        db.run("sum_turns", json_list(sorted(wanted)))


# Reading ------------------------------------------------------------------------------------------------------------


def find(
    db: Database, session: str | None, turn: str | None, since: Time | None, until: Time | None, limit: int | None
) -> list[ReplyInfo]:
    """The replies that fit, the newest first."""
    at_least("limit", limit, 0)
    lookup.check_session(db, session)
    first, last = 0, LAST
    number = None if turn is None else lookup.number(db, turn)
    if number is not None:
        span = lookup.span(db, number)
        if span is None:
            raise NotFound(f"No turn begins at message {turn!r}.")
        first, last = number, span.last
    owner = None if session is None else lookup.session_number(db, session)
    rows = db.rows("replies", owner, number, first, last, *_times(since, until), LAST if limit is None else limit)
    return [reply_info(row) for row in rows]


def pages(db: Database, of: Sequence[str] | None) -> Iterator[ReplyInfo]:
    """Every reply, the newest first, page by page; or those at some messages."""
    if of is not None:
        numbers = lookup.numbers(db, of).values()
        yield from map(reply_info, db.rows("replies_of", json_list(numbers)))
        return
    last = LAST
    while rows := db.rows("replies", None, None, 0, last, None, None, PAGE):
        yield from map(reply_info, rows)
        last = lookup.number(db, rows[-1][0]) - 1


def usage(
    db: Database, session: str | None, by: Group | Pair | None, since: Time | None,
    until: Time | None, delegates: bool,
) -> list[Totals]:  # fmt: skip
    """Totals of the replies that fit, grouped. Raises `Invalid`."""
    groups = () if by is None else tuple(by) if isinstance(by, (tuple, list)) else (by,)
    wrong = any(group not in GROUPS for group in groups) or (by is not None and len(groups) not in (1, 2))
    if wrong or len(set(groups)) < len(groups):
        raise Invalid(f"by is one of {', '.join(GROUPS)}, or a pair of two of these, not {by!r:.60}.")
    lookup.check_session(db, session)
    first, second = (*groups, None, None)[:2]
    rows = db.rows("usage", first, second, session, *_times(since, until), int(delegates))
    if not rows and not groups:
        return [Totals(None, 0, Usage(), 0)]
    return [totals(row, groups) for row in rows]


def _times(since: Time | None, until: Time | None) -> tuple[int | None, int | None]:
    return None if since is None else micros(since, "since"), None if until is None else micros(until, "until")


# Which message has which details ------------------------------------------------------------------------------------


def reply_index(messages: Sequence[Message]) -> int:
    """The index of the last reply; of the last message if none is a reply."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role == "assistant":
            return index
    return len(messages) - 1


def attribute(
    messages: Sequence[Message],
    read: Mapping[int, ReplyDetails],
    given: ReplyDetails,
    usage: Usage | Sequence[Usage | None] | None,
) -> dict[int, ReplyDetails]:
    """The details of each reply of a whole turn, by the index of its message. Raises `Invalid`.

    `read` comes from the replies of providers among the messages, `given` and `usage` from the caller, whose usage
    counts instead: one for each reply, or one for the turn, which then is the last reply's.
    """
    last = reply_index(messages)
    if isinstance(usage, Usage) and not read:  # nearly every turn whose tokens are known
        return {last: ReplyDetails(given.model, given.provider, given.request_id, usage)}
    found = {index: _filled(p, given) for index, p in read.items()} or {last: replace(given, request_id=None)}
    if usage is not None and not isinstance(usage, Usage):
        usages = _by_reply(messages, usage)
        found = {index: found.get(index) or replace(given, request_id=None) for index in usages}
        found = {index: p if usages[index] is None else replace(p, usage=usages[index]) for index, p in found.items()}
    elif usage is not None:
        found = {index: replace(p, usage=Usage()) for index, p in found.items()}
        found[last] = replace(found.get(last, given), usage=usage)
    if given.request_id is not None:
        found[last] = replace(found.get(last, given), request_id=given.request_id)
    return found


def _filled(p: ReplyDetails, given: ReplyDetails) -> ReplyDetails:
    return replace(p, model=either(given.model, p.model), provider=either(given.provider, p.provider))


def either(first: str | None, second: str | None) -> str | None:
    """The first one, unless it is unknown. Empty text is not: it is stored as it was given."""
    return second if first is None else first


def _by_reply(messages: Sequence[Message], usages: Sequence[Usage | None]) -> dict[int, Usage | None]:
    indexes = [index for index, message in enumerate(messages) if message.role == "assistant"]
    if len(indexes) != len(usages):
        raise Invalid(
            f"There are {len(usages)} usages for {len(indexes)} replies; nothing was saved. Give one for each reply, "
            "None where it is unknown, or one `Usage` for the whole turn."
        )
    return dict(zip(indexes, usages, strict=True))
