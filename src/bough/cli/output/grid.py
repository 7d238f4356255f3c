"""Tables of Markdown on a terminal, with cells wrapped to its width."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from bough.cli.output.text import width

RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
MIN_CELL = 8
"""Cells of a column; a table with no room for that is written as one line for each of its cells."""

Render = Callable[[str, int], list[str]]
"""Renders the text of a cell in lines of a width."""


def grid(lines: Sequence[str], room: int, render: Render, bare: Callable[[str], str]) -> Iterator[str]:
    """The lines of a table; rows without a rule below the first are no table, and stay as they are.

    `bare` removes the escape sequences of a rendered line, to measure it.
    """
    if len(lines) < 2 or not RULE.fullmatch(lines[1].strip()):
        yield from lines
        return
    rows = [cells_of(line) for line in (lines[0], *lines[2:])]
    count = max(map(len, rows))
    rows = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = fitted([max(width(bare("".join(render(row[n], 10_000)))) for row in rows) for n in range(count)], room)
    if widths is None:
        yield from listed(rows, room, render)
        return
    rights = [cell.strip().endswith(":") and not cell.strip().startswith(":") for cell in cells_of(lines[1])]
    for number, row in enumerate(rows):
        rendered = [render(cell, widths[n]) for n, cell in enumerate(row)]
        for parts in zip_longest(*rendered, fillvalue=""):
            padded = [aligned(part, widths[n], bare, n < len(rights) and rights[n]) for n, part in enumerate(parts)]
            padded[-1] = padded[-1].rstrip()
            yield "\x1b[2m │ \x1b[22m".join(f"\x1b[1m{part}\x1b[22m" if number == 0 else part for part in padded)
        if number == 0:
            yield "\x1b[2m" + "─┼─".join("─" * one for one in widths) + "\x1b[22m"


def cells_of(line: str) -> list[str]:
    """The cells of a row; a pipe after a backslash, or in code, is text."""
    inner = line.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    found = re.split(r"(?<!\\)\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", inner)
    return [cell.strip().replace("\\|", "|") for cell in found]


def fitted(wanted: list[int], room: int) -> list[int] | None:
    """Widths of the columns that fit; the widest are narrowed first. None if there is no room."""
    free = room - 3 * (len(wanted) - 1)
    widths = [max(one, 1) for one in wanted]
    while sum(widths) > free:
        widest = max(widths)
        if widest <= MIN_CELL:
            return None
        second = max([one for one in widths if one < widest], default=MIN_CELL)
        many = widths.count(widest)
        narrower = max(second, widest - -(-(sum(widths) - free) // many), MIN_CELL)
        widths = [narrower if one == widest else one for one in widths]
    return widths


def aligned(part: str, room: int, bare: Callable[[str], str], right: bool) -> str:
    space = " " * max(room - width(bare(part)), 0)
    return space + part if right else part + space


def listed(rows: Sequence[Sequence[str]], room: int, render: Render) -> Iterator[str]:
    """Each row as a few lines, with the head of its column before each cell."""
    for number, row in enumerate(rows[1:]):
        if number:
            yield ""
        for head, cell in zip(rows[0], row, strict=True):
            if cell:
                yield from render(f"**{head}:** {cell}" if head else cell, room)
