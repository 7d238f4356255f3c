"""`bough stats`: tokens and cost by model, day and session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import click

from bough.cli.locate import Locator
from bough.cli.options import SESSION, examples, json_option, limit_option, store_options, time_options
from bough.cli.output.console import columns, note, print_json, print_lines, styled
from bough.cli.output.text import one_line, pad, pluralize, width
from bough.cli.refs import session_key
from bough.model import Totals
from bough.storage.replies import GROUPS
from bough.store import Store

MAX_NAME = 40
MAX_BAR = 24
NUMBERS = 50
"""Cells of the columns for tokens, cost and turns."""
TITLES = {"models": "model", "days": "day", "sessions": "session"}
Sections: TypeAlias = dict[str, list[Totals]]
EIGHTHS = " ▏▎▍▌▋▊▉█"


@click.command(
    "stats", epilog=examples("bough stats", "bough stats --session cli:default", "bough stats --by day,model")
)
@click.option("--session", metavar="NAME", type=SESSION, help="Only of this session.")
@click.option("--by", metavar="GROUP", help=f"By one of {', '.join(GROUPS)}, or two of these: day,model.")
@time_options
@limit_option(14, "Rows per section.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, session: str | None, by: str | None, since: int | None, until: int | None, limit: int,
    as_json: bool,
) -> None:  # fmt: skip
    """Show tokens and cost: in total, by model, by day and by session, or by what `--by` names."""
    span = {"since": since, "until": until}
    with locator.existing() as store:
        sections = usage_by_section(store, session_key(store, session), by, span)
        size = store.size()
    (total,) = sections.pop("total")
    if as_json:
        rows = {section: [totals_json(one) for one in totals] for section, totals in sections.items()}
        print_json({"total": totals_json(total), "messages": size.messages, "sessions_kept": size.sessions, **rows})
    elif total.turns == 0:
        note("No turns yet.")
    else:
        print_lines(report_lines(total, sections, limit))


def usage_by_section(store: Store, session: str | None, by: str | None, span: Mapping[str, Any]) -> Sections:
    sections = {"total": store.usage(session, **span)}
    if by is not None:
        groups: Any = tuple(by.replace(",", " ").split())
        return sections | {by: store.usage(session, by=groups, **span)}
    sections |= {"models": store.usage(session, by="model", **span), "days": store.usage(session, by="day", **span)}
    if session is None:
        sections["sessions"] = store.usage(by="session", **span)
    return sections


def report_lines(total: Totals, sections: Sections, limit: int) -> Iterator[str]:
    """The total, then a chart for each section."""
    yield f"{styled('Total', 'bold')}  {pluralize(total.turns, 'turn')} · {tokens(total)} tokens · {price(total)}"
    for section, totals in sections.items():
        shown = totals[-limit:] if section.startswith("day") else sorted(totals, key=total_tokens, reverse=True)[:limit]
        yield ""
        hidden = f" ({len(totals) - len(shown):,} more: -n)" if len(totals) > len(shown) else ""
        yield styled(f"By {TITLES.get(section, section)}{hidden}", "bold")
        yield from chart(shown)


def chart(rows: Sequence[Totals]) -> Iterator[str]:
    """One line per row, with a bar for its tokens."""
    names = [one_line(" · ".join(name or "(unknown)" for name in row.names)) for row in rows]
    room = min(MAX_NAME, max(map(width, names), default=0), max(10, columns() - NUMBERS - MAX_BAR // 2))
    length = max(1, min(MAX_BAR, columns() - NUMBERS - room))
    most = max(map(total_tokens, rows), default=0) or 1
    for name, row in zip(names, rows, strict=True):
        filled = styled(bar(total_tokens(row) / most, length), "cyan")
        turns = pluralize(row.turns, "turn")
        yield f"  {pad(name, room)} {filled} {tokens(row, 9)} {price(row):>11}  {turns}"


def bar(share: float, length: int = MAX_BAR) -> str:
    """A bar of whole cells and eighths; a share above 0 has at least one eighth."""
    eighths = round(share * length * 8) or (1 if share > 0 else 0)
    full, rest = divmod(eighths, 8)
    return (EIGHTHS[8] * full + (EIGHTHS[rest] if rest else "")).ljust(length)


def total_tokens(total: Totals) -> int:
    return (total.usage.input_tokens or 0) + (total.usage.output_tokens or 0)


def tokens(total: Totals, room: int = 0) -> str:
    """Input → output tokens. An unknown number is `?`, not 0."""
    given, written = (
        "?" if one is None else f"{one:,}" for one in (total.usage.input_tokens, total.usage.output_tokens)
    )
    return f"{given:>{room}} → {written:<{room}}"


def price(total: Totals) -> str:
    """The known cost; `+?` if the cost of some turns is unknown, and not 0."""
    if total.usage.cost is None:
        return "$ ?"
    return f"${total.usage.cost:,.4f}" + ("+?" if total.unpriced else "")


def totals_json(total: Totals) -> dict[str, Any]:
    usage = total.usage
    return {
        "name": total.name,
        "names": list(total.names),
        "turns": total.turns,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost": usage.cost,
        "turns_of_unknown_cost": total.unpriced,
    }
