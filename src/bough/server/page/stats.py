"""`/stats`: what it cost, by day, model, program and more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bough.errors import Invalid
from bough.exporters.html.blocks import text
from bough.model import Json, Totals
from bough.model.times import parse_time
from bough.model.values import asdict
from bough.server.page.html import chip, money, notice, session_link, short
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

GROUPS = ("day", "model", "provider", "session", "agent", "label")
SPANS = (("7 days", "7d"), ("30 days", "30d"), ("A year", "1y"), ("All time", None))
MOST = 200
WIDTH, HEIGHT = 720, 160


class StatsScreen:
    """Totals of a span, and the same in groups."""

    title = "Stats"
    section: Section = "stats"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.asked = asked
        self.by = asked.get("by") or "day"
        if self.by not in GROUPS:
            raise Invalid(f"`by` is one of {', '.join(GROUPS)}, not {self.by!r:.40}.")
        span: dict[str, Any] = {name: parse_time(given) for name, given in (
            ("since", asked.get("from")), ("until", asked.get("to"))) if given}  # fmt: skip
        (self.total,) = store.usage(**span)
        self.groups = store.usage(by=self.by, **span)  # type: ignore[arg-type]
        self.size = store.size()
        self.state: State = "ready" if self.groups else "empty"

    def main(self) -> str:
        asked = self.asked
        spans = "".join(chip(label, asked.with_query(**{"from": given}) or "?", on=asked.get("from") == given)
                        for label, given in SPANS)  # fmt: skip
        groups = "".join(chip(f"By {name}", asked.with_query(by=name), on=self.by == name) for name in GROUPS)
        head = (f'<header class="title"><h1>Stats</h1></header><nav class="chips" aria-label="Time">{spans}</nav>'
                f'<nav class="chips" aria-label="Groups">{groups}</nav>')  # fmt: skip
        if self.state == "empty":
            return head + notice("empty", "No replies in this time", "<p>Replies that are stored count here.</p>")
        return f"{head}{self._tiles()}{self._chart()}{self._table()}"

    def _tiles(self) -> str:
        usage = self.total.usage
        priced = "not known" if usage.cost is None else money(usage.cost)
        tiles = [
            (
                "Cost",
                priced,
                f"{self.total.unpriced:,} turns without a price" if self.total.unpriced else "all turns priced",
            ),
            ("Turns", short(self.total.turns), f"{short(self.total.replies)} replies"),
            ("Read", short(usage.input_tokens or 0), f"{short(usage.cached_tokens or 0)} of it cached"),
            ("Written", short(usage.output_tokens or 0), "tokens"),
            ("Stored", short(self.size.messages), f"messages in {short(self.size.sessions)} sessions"),
        ]
        return (
            '<dl class="tiles">'
            + "".join(f"<div><dt>{name}</dt><dd>{value}<small>{more}</small></dd></div>" for name, value, more in tiles)
            + "</dl>"
        )

    def _chart(self) -> str:
        """Bars of the days. The table below has the same numbers."""
        if self.by != "day":
            return ""
        shown = self.groups[-90:]
        worth = [one.usage.cost or 0 for one in shown]
        unit = "Cost"
        if not any(worth):
            worth, unit = [float(one.usage.output_tokens or 0) for one in shown], "Tokens written"
        most = max([*worth, 1e-9])
        step = min(WIDTH / max(len(shown), 1), 48)
        bars = "".join(
            f'<rect x="{place * step + 1:.1f}" y="{HEIGHT - max(height / most * (HEIGHT - 8), 1.5):.1f}" '
            f'width="{max(step - 2, 1):.1f}" height="{max(height / most * (HEIGHT - 8), 1.5):.1f}" rx="2"><title>'
            f"{text(one.name or 'unknown')}: {text(money(height) if unit == 'Cost' else short(height))}</title></rect>"
            for place, (one, height) in enumerate(zip(shown, worth, strict=True))
        )
        return (f'<figure class="chart"><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{unit} by day; the '
                f'table has the numbers">{bars}</svg><figcaption>{unit} by day, most '
                f"{text(money(most) if unit == 'Cost' else short(most))}</figcaption></figure>")  # fmt: skip

    def _table(self) -> str:
        ordered = (
            sorted(self.groups, key=lambda one: one.name or "", reverse=True)
            if self.by == "day"
            else sorted(self.groups, key=lambda one: (one.usage.cost or 0, one.usage.output_tokens or 0), reverse=True)
        )
        rows = "".join(self._row(one) for one in ordered[:MOST])
        return (
            '<div class="scroll" tabindex="0" role="region" aria-label="Numbers"><table class="numbers"><thead><tr>'
            f'<th scope="col">{self.by.capitalize()}</th><th scope="col">Cost</th><th scope="col">Turns</th>'
            '<th scope="col">Read</th><th scope="col">Cached</th><th scope="col">Written</th></tr></thead>'
            f"<tbody>{rows}</tbody></table></div>"
        )

    def _row(self, one: Totals) -> str:
        usage, name = one.usage, one.name or "unknown"
        link = text(name)
        if self.by == "session" and one.name:
            link = f'<a href="{session_link(one.name)}">{text(name)}</a>'
        elif self.by == "model" and one.name:
            link = f'<a href="/search?q=model:{text(name)}">{text(name)}</a>'
        cost = "unpriced" if usage.cost is None else money(usage.cost)
        if usage.cost is not None and one.unpriced:
            cost += f" <small>+{one.unpriced} unpriced</small>"
        counts = (one.turns, usage.input_tokens, usage.cached_tokens, usage.output_tokens)
        cells = "".join(f"<td>{'–' if count is None else short(count)}</td>" for count in counts)
        return f'<tr><th scope="row">{link}</th><td>{cost}</td>{cells}</tr>'

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"by": self.by, "total": asdict(self.total), "groups": [asdict(one) for one in self.groups]}

    def markdown(self) -> str:
        rows = [
            f"| {one.name or 'unknown'} | {'unpriced' if one.usage.cost is None else money(one.usage.cost)} | "
            f"{one.turns} | {one.usage.input_tokens or 0} | {one.usage.output_tokens or 0} |"
            for one in self.groups
        ]
        return "\n".join(
            ["# Stats", "", f"| {self.by} | cost | turns | read | written |", "|---|---|---|---|---|", *rows, ""]
        )
