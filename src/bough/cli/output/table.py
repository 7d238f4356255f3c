"""Tables with aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from bough.cli.output.console import columns, on_terminal, styled
from bough.cli.output.text import one_line, pad, truncate, width

MEASURED = 500
"""Rows whose widths decide those of the columns."""
MAX_WIDTH = 40
"""The maximum width of a column, except the last."""

MIN_LAST, MIN_WIDTH = 10, 6
"""The minimum widths of the last column and of the others: a whole id."""


def narrowed(widths: list[int], room: int) -> list[int]:
    """The widths of columns that fit, if possible; the widest are narrowed first."""
    while sum(widths) > room and max(widths, default=0) > MIN_WIDTH:
        widest = max(widths)
        widths = [one - 1 if place == widths.index(widest) else one for place, one in enumerate(widths)]
    return widths


def pairs_of_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Two lines for each row, for a terminal too narrow for columns: first and last cell, then the others."""
    for first, *others, last in rows:
        yield truncate(f"{first}  {last}", columns())
        if details := " · ".join(filter(None, others)):
            yield styled(truncate(f"  {details}", columns()), "dim")


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> Iterator[str]:
    """The lines of a table. The last column takes the remaining width; columns in `right` are right-aligned.

    The columns are as wide as the first rows need: a long table is written while it is made.
    """
    cells = ([one_line("" if item is None else str(item)) for item in row] for row in rows)
    shown = list(islice(cells, MEASURED))
    widths = [max(map(width, (head, *(row[place] for row in shown)))) for place, head in enumerate(heads)]
    last = len(heads) - 1
    widths[:last] = [min(MAX_WIDTH, one) for one in widths[:last]]
    if on_terminal():  # a pipe has all of it
        widths[:last] = narrowed(widths[:last], columns() - 2 * last - MIN_LAST)
        if sum(widths[:last]) > columns() - 2 * last - MIN_LAST:
            yield from pairs_of_lines(shown)
            return
    widths[last] = max(MIN_LAST, min(widths[last], columns() - sum(widths[:last]) - 2 * last))

    def cell(place: int, text: str) -> str:
        room = widths[place]
        if heads[place] in right:
            return truncate(text, room).rjust(room)
        return truncate(text, room) if place == last else pad(text, room)

    def line(row: Sequence[str]) -> str:
        return "  ".join(cell(place, text) for place, text in enumerate(row)).rstrip()

    yield styled(line(heads), "dim")
    yield from map(line, chain(shown, cells))
