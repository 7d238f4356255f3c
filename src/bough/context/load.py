"""Load only the part of a path that a request needs."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

from bough.context.fit import Context, Counter, Window, fit, fit_window, limit_for
from bough.db import Database
from bough.formats.types import Format
from bough.model import Node
from bough.model.arguments import at_least
from bough.model.values import replace, value

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
) -> Context:
    """Build the request for the path that ends at row `head`. Raises `Invalid` and `FormatError`, as `fit` does."""
    at_least("budget", budget, 1)
    at_least("reserve", reserve, 0)
    if budget is None and model is not None:
        from bough.prices import window_of

        budget = window_of(model)
    if budget is not None:
        budget = max(1, budget - (int(budget * RESERVE) if reserve is None else reserve))
    with store.db.reading():
        row = store.db.row("message_header", head) if head is not None else None
        if row is None:
            return fit([], format, budget, strict=strict)
        n, _, _, _, turn, _, weight, newest_summary = row
        counted = Counted() if counter else last_count(store.db, n)
        summary, base = summary_at(store, newest_summary)
        if counter is not None or budget is None:
            path = store.load(store.db.rows("path_from", n, base, 0))[::-1]
            path = path if summary is None or summary in path else [summary, *path]
            made = fit(path, format, budget, counter=counter, scale=counted.scale, strict=strict)
        else:
            window = Window(limit_for(budget, counted.scale, summary, counter), base)
            rows = store.db.rows("path_from", n, window.threshold(weight), turn if turn is not None else n)
            rest = [node for node in store.load(rows)[::-1] if node.weight > base and node.kind == "message"]
            made = fit_window(summary, rest, format, window, scale=counted.scale, strict=strict)
    if counted.weight is None or made.cut or made.elided or summary is not None:
        return made
    return replace(made, tokens=counted.tokens + round((weight - counted.weight) * counted.scale))


def summary_at(store: Store, n: int | None) -> tuple[Node | None, int]:
    """The summary in row `n`, and the weight of the last node that it covers."""
    if n is None:
        return None, 0
    (summary,) = store.load(store.db.rows("nodes", f"[{n}]"))
    covered = store.get_messages([summary.covers])[0] if summary.covers else None
    return summary, covered.weight if covered else 0


@value
class Counted:
    """The provider's newest count on a path, and the weight of the path at that node."""

    tokens: int = 0
    weight: int | None = None

    @property
    def scale(self) -> float:
        """The provider's tokens per estimated token, rounded to coarse steps so that the cut seldom moves."""
        return float(SCALE_STEP ** round(log(self.tokens / self.weight) / log(SCALE_STEP))) if self.weight else 1.0


def last_count(db: Database, n: int) -> Counted:
    """The newest count on the path; none if it is implausible, as after a request that was cut."""
    row = db.row("counted_turns", n)
    if row is None or not row[1] or not PLAUSIBLE[0] <= row[0] / row[1] <= PLAUSIBLE[1]:
        return Counted()
    return Counted(*row)
