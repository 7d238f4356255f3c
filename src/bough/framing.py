"""Loads as much of a path as a request needs, and no more."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import TYPE_CHECKING, Any

from bough.context import Context, Counter, Window, fit, fit_window, limit_for
from bough.db import Database
from bough.formats.types import Format
from bough.model import Node

if TYPE_CHECKING:
    from bough.store import Store

RESERVE = 0.1
"""The part of a budget that is kept free, for the instructions and for what an estimate may be wrong by."""
BELIEVABLE = 0.5, 2.0
STEP = 1.1


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
    """The request for the path that ends at a row."""
    budget = window_of(model) if budget is None and model is not None else budget
    if budget is not None:
        budget = max(1, budget - (int(budget * RESERVE) if reserve is None else reserve))
    with store.db.reading():
        row = store.db.row("step", head) if head is not None else None
        if row is None:
            return fit([], format, budget, strict=strict)
        n, _, _, _, turn, _, weight, newest_summary = row
        scale = 1.0 if counter else measured_scale(store.db, n)
        summary, base = summary_at(store, newest_summary)
        if counter is not None or budget is None:
            path = store.load(store.db.rows("path_from", n, base, 0))[::-1]
            return fit(with_covered(summary, path), format, budget, counter=counter, scale=scale, strict=strict)
        window = Window(limit_for(budget, scale, summary, counter), base)
        rows = store.db.rows("path_from", n, window.threshold(weight), turn if turn is not None else n)
        rest = [node for node in store.load(rows)[::-1] if node.weight > base and node.kind == "message"]
    return fit_window(summary, rest, format, window, scale=scale, strict=strict)


def summary_at(store: Store, n: int | None) -> tuple[Node | None, int]:
    """The summary that a path starts at, and the weight of what it speaks for."""
    if n is None:
        return None, 0
    (summary,) = store.load(store.db.rows("nodes", f"[{n}]"))
    covered = store.get_messages([summary.covers])[0] if summary.covers else None
    return summary, covered.weight if covered else 0


def with_covered(summary: Node | None, path: list[Node]) -> list[Node]:
    """The path, with its summary at the front where the walk ended before it came to one."""
    return path if summary is None or summary in path else [summary, *path]


def measured_scale(db: Database, n: int) -> float:
    """How many of the provider's tokens one estimated token has been on this path; 1 when nothing is known.

    It is rounded to coarse steps, so that it does not move the cut every turn. A count that cannot be of the whole
    path, because the request was cut or had long instructions, is not believed.
    """
    row = db.row("counted_turns", n)
    if row is None or not row[1]:
        return 1.0
    ratio = row[0] / row[1]
    if not BELIEVABLE[0] <= ratio <= BELIEVABLE[1]:
        return 1.0
    return float(STEP ** round(log(ratio) / log(STEP)))


def window_of(model: str) -> int | None:
    """How much a model can read, if the price list is installed and knows it."""
    try:
        from genai_prices.data_snapshot import get_snapshot
    except ImportError:
        return None
    find: Callable[..., Any] = get_snapshot().find_provider_model
    try:
        return find(model, None, None, None)[1].context_window  # type: ignore[no-any-return]
    except LookupError:
        return None
