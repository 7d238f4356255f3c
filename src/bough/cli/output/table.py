"""Tables with aligned columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from bough.cli.output.console import columns, styled
from bough.cli.output.text import one_line, pad, truncate, width

MEASURED = 500
"""Rows whose widths decide those of the columns."""
MAX_WIDTH = 40
"""The maximum width of a column, except the last."""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str] = ()) -> Iterator[str]:
    """The lines of a table. The last column takes the remaining width; columns in `right` are right-aligned.

    The columns are as wide as the first rows need: a long table is written while it is made.
    """
    cells = ([one_line("" if item is None else str(item)) for item in row] for row in rows)
    shown = list(islice(cells, MEASURED))
    widths = [max(map(width, (head, *(row[place] for row in shown)))) for place, head in enumerate(heads)]
    last = len(heads) - 1
    widths[:last] = [min(MAX_WIDTH, one) for one in widths[:last]]
    widths[last] = max(10, min(widths[last], columns() - sum(widths[:last]) - 2 * last))

    def cell(place: int, text: str) -> str:
        room = widths[place]
        if heads[place] in right:
            return text.rjust(room)
        return truncate(text, room) if place == last else pad(text, room)

    def line(row: Sequence[str]) -> str:
        return "  ".join(cell(place, text) for place, text in enumerate(row)).rstrip()

    yield styled(line(heads), "dim")
    yield from map(line, chain(shown, cells))
