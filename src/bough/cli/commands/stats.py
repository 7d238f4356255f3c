"""`bough stats`: tokens and cost, by model, day and session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import SESSION, examples, json_option, limit_option, store_options
from bough.cli.output.console import columns, note, print_json, print_lines, styled
from bough.cli.output.text import one_line, pad, pluralize, width
from bough.cli.refs import session_key
from bough.model import Totals
from bough.store import Store

LONGEST_NAME = 40
BAR = 24
NUMBERS = 50
"""Cells that tokens, cost and turns take of a row."""
EIGHTHS = " ▏▎▍▌▋▊▉█"


@click.command("stats", epilog=examples("bough stats", "bough stats --session cli:default", "bough stats --json"))
@click.option("--session", metavar="NAME", type=SESSION, help="Of one session only.")
@limit_option(14, "Rows of each part.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, session: str | None, limit: int, as_json: bool) -> None:
    """Show how many tokens were used and what they cost: in all, by model, by day and by session."""
    with locator.existing() as store:
        parts = gathered(store, session_key(store, session))
        size = store.size()
    (total,) = parts.pop("total")
    if as_json:
        rows = {part: [totals_json(one) for one in found] for part, found in parts.items()}
        print_json({"total": totals_json(total), "messages": size.messages, "sessions_kept": size.sessions, **rows})
    elif total.turns == 0:
        note("No turns yet: nothing has been asked.")
    else:
        print_lines(told(total, parts, limit))


def gathered(store: Store, session: str | None) -> dict[str, list[Totals]]:
    parts = {"total": store.usage(session), "models": store.usage(session, by="model")}
    parts["days"] = store.usage(session, by="day")
    if session is None:
        parts["sessions"] = store.usage(by="session")
    return parts


def told(total: Totals, parts: dict[str, list[Totals]], limit: int) -> Iterator[str]:
    yield f"{styled('Total', 'bold')}  {pluralize(total.turns, 'turn')} · {tokens(total)} tokens · {price(total)}"
    for part, found in parts.items():
        kept = found[-limit:] if part == "days" else sorted(found, key=total_tokens, reverse=True)[:limit]
        yield ""
        hidden = f" ({len(found) - len(kept):,} more: -n)" if len(found) > len(kept) else ""
        yield styled(f"By {part[:-1]}{hidden}", "bold")
        yield from chart(kept)


def chart(rows: Sequence[Totals]) -> Iterator[str]:
    """One row a sum, with a bar for its tokens."""
    names = [one_line(row.name or "(unknown)") for row in rows]
    room = min(LONGEST_NAME, max(map(width, names), default=0), max(10, columns() - NUMBERS - BAR // 2))
    length = max(1, min(BAR, columns() - NUMBERS - room))
    most = max(map(total_tokens, rows), default=0) or 1
    for name, row in zip(names, rows, strict=True):
        shown = styled(bar(total_tokens(row) / most, length), "cyan")
        turns = pluralize(row.turns, "turn")
        yield f"  {pad(name, room)} {shown} {tokens(row, 9)} {price(row):>11}  {turns}"


def bar(share: float, length: int = BAR) -> str:
    """A bar of whole cells and eighths."""
    eighths = round(share * length * 8) or (1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(length)


def total_tokens(total: Totals) -> int:
    return (total.usage.input_tokens or 0) + (total.usage.output_tokens or 0)


def tokens(total: Totals, room: int = 0) -> str:
    """Read → written; what no provider has told is not zero."""
    read, written = (
        "?" if one is None else f"{one:,}" for one in (total.usage.input_tokens, total.usage.output_tokens)
    )
    return f"{read:>{room}} → {written:<{room}}"


def price(total: Totals) -> str:
    """The cost as far as it is known; what is unknown is not zero."""
    if total.usage.cost is None:
        return "$ ?"
    return f"${total.usage.cost:,.4f}" + ("+?" if total.unpriced else "")


def totals_json(total: Totals) -> dict[str, Any]:
    usage = total.usage
    return {
        "name": total.name,
        "turns": total.turns,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost": usage.cost,
        "turns_of_unknown_cost": total.unpriced,
    }
