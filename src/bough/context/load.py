"""Load only the part of a path that a request needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log
from typing import TYPE_CHECKING, Any

from bough.context.compaction import Summarize, Summary, summarize_older
from bough.context.fit import Context, Counter, Window, fit, fit_window, limit_for
from bough.context.repair import CANCELLED, STOPPED
from bough.db import Database
from bough.formats.servers import server
from bough.formats.types import Format, Recipient
from bough.model import Node
from bough.model.arguments import at_least
from bough.model.tokens import estimate
from bough.model.values import lazy_maker, replace, value

if TYPE_CHECKING:
    from bough.store import Store

RESERVE = 0.1
"""Share of a budget that is kept free, for the instructions and for errors of the estimate."""
PLAUSIBLE = 0.5, 2.0
"""Bounds of provider tokens per estimated token; a count outside them is of a request that was cut."""
SCALE_STEP = 1.1


def context_at(
    store: Store,
    head: int | None,
    format: str | Format,
    budget: int | None,
    *,
    model: str | None = None,
    reserve: int | None = None,
    counter: Counter | None = None,
    strict: bool = False,
    dialect: str | None = None,
) -> Context:
    """Build the request for the path that ends at row `head`. Raises `Invalid` and `FormatError`, as `fit` does."""
    budget = usable(budget, model, reserve)
    target = Recipient(model, None if dialect is None else server(dialect))
    with store.db.reading():
        last = last_message(store.db, head)
        if last is None:
            return fit([], format, budget, strict=strict, target=target)
        n, weight = last.n, last.weight
        counted = Counted() if counter else last_count(store, n)
        told: dict[str, Any] = {"reason": partial(missing_result, store.db), "target": target}
        summary, base = summary_at(store, last.summary)
        if counter is not None or budget is None:
            path = store.load(store.db.rows("path_from", n, base, 0))[::-1]
            path = path if summary is None or summary in path else [summary, *path]
            made = fit(path, format, budget, counter=counter, scale=counted.scale, strict=strict, **told)
        else:
            window = Window(limit_for(budget, counted.scale, summary, counter), base)
            rows = store.db.rows("path_from", n, window.threshold(weight), last.turn)
            rest = uncovered(store.load(rows), base)
            made = fit_window(summary, rest, format, window, scale=counted.scale, strict=strict, **told)
            made = name_unloaded(store.db, made, rest, base)
    if counted.weight is None or made.cut or made.elided or summary is not None:
        return made
    return replace(made, tokens=counted.tokens + round((weight - counted.weight) * counted.scale))


def usable(budget: int | None, model: str | None, reserve: int | None) -> int | None:
    """The budget, or the window of the model, less what is reserved. Raises `Invalid`."""
    at_least("budget", budget, 1)
    at_least("reserve", reserve, 0)
    if budget is None and model is not None:
        from bough.prices import window_of

        budget = window_of(model)
    if budget is None:
        return None
    return max(1, budget - (int(budget * RESERVE) if reserve is None else reserve))


def compact_at(
    store: Store,
    head: int | None,
    summarize: Summarize,
    budget: int | None = None,
    *,
    keep_turns: int | None = None,
    model: str | None = None,
    reserve: int | None = None,
    counter: Counter | None = None,
) -> Summary | None:
    """A summary of the older turns of the path that ends at row `head`; None if there are none."""
    budget = usable(budget, model, reserve)
    with store.db.reading():
        last = last_message(store.db, head)
        if last is None:
            return None
        scale = 1.0 if counter else last_count(store, last.n).scale
        former, base = summary_at(store, last.summary)
        rest = uncovered(store.load(store.db.rows("path_from", last.n, base, 0)), base)
    limit = None if budget is None else max(1, int(budget / scale))
    return summarize_older(former, rest, summarize, limit, keep_turns, counter)


@value
class LastMessage:
    """The newest message of a path that is no summary."""

    n: int
    turn: int
    """The number of the first message of its turn; its own outside any turn."""
    weight: int
    summary: int | None
    """The number of the newest summary on the whole path, which may come after the message."""


def last_message(db: Database, head: int | None) -> LastMessage | None:
    """The last message of the path that ends at row `head`; None if there is no such row."""
    at, newest = head, None
    while row := db.row("message_header", at) if at is not None else None:
        n, at, _, role, turn, _, weight, summary = row
        newest = newest or summary
        if n != summary or at is None:
            return LastMessage(n, first_of_turn(db, n, role, turn), weight, newest)
    return None


def first_of_turn(db: Database, n: int, role: str, turn: int | None) -> int:
    """The first message of a turn, or of that of the question that it answers; `n` outside any turn."""
    if role == "user" or turn is None:
        return n if turn is None else turn
    _, parent, _, role, *_ = db.row("message_header", turn) or (None, None, None, "user")
    above = db.row("message_header", parent) if role != "user" and parent is not None else None
    if above is None or above[3] != "user" or above[0] == above[-1]:
        return turn
    question, _, _, _, own, *_ = above
    return int(question if own is None else own)


def name_unloaded(db: Database, made: Context, rest: list[Node], base: int) -> Context:
    """The context with the ids of the messages that were not even loaded among the dropped ones, read at first use."""
    if not made.cut or not rest or rest[0].parent_id is None:
        return made
    new: Callable[..., Context] = lazy_maker(Context)
    return new(
        Context, made.payload, made.format, made.tokens, made.fits, made.cut,
        (dropped_ids, db, rest[0].parent_id, base, made.dropped), made.elided, made.losses,
    )  # fmt: skip


def dropped_ids(db: Database, end: str, base: int, loaded: tuple[str, ...]) -> tuple[str, ...]:
    """The ids of the path up to the message `end`, less what a summary covers, and those that were loaded."""
    return tuple(id_ for (id_,) in db.rows("path_ids", end, base)) + loaded


def uncovered(nodes: list[Node], base: int) -> list[Node]:
    """Those of these nodes, newest first, that come after what a summary covers; the oldest first."""
    return [node for node in reversed(nodes) if node.weight > base and node.kind == "message"]


def missing_result(db: Database, id: str) -> str:
    """Why a call in this message has no result: its turn was stopped by the user, or cut off."""
    return STOPPED if db.row("status_at", id) == ("stopped",) else CANCELLED


def summary_at(store: Store, n: int | None) -> tuple[Node | None, int]:
    """The summary in row `n`, and the weight of the last node that it covers."""
    if n is None:
        return None, 0
    (summary,) = store.load(store.db.rows("nodes", f"[{n}]"))
    covered = store.get_messages([summary.covers])[0] if summary.covers else None
    return summary, covered.weight if covered else 0


@value
class Counted:
    """The provider's newest count on a path, and the estimate of what was counted."""

    tokens: int = 0
    weight: int | None = None

    @property
    def scale(self) -> float:
        """The provider's tokens per estimated token, rounded to coarse steps so that the cut seldom moves."""
        return float(SCALE_STEP ** round(log(self.tokens / self.weight) / log(SCALE_STEP))) if self.weight else 1.0


def last_count(store: Store, n: int) -> Counted:
    """The newest count on the path; none if it is implausible, as after a request that was cut."""
    tokens, weight, newest_summary = store.db.row("counted_turns", n) or (0, 0, None)
    summary, base = summary_at(store, newest_summary)
    sent = weight - base + (estimate(summary.message) if summary else 0)
    if not sent or not PLAUSIBLE[0] <= tokens / sent <= PLAUSIBLE[1]:
        return Counted()
    return Counted(tokens, sent)
