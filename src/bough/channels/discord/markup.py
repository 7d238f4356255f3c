"""Discord shows Markdown by itself, except tables."""

from __future__ import annotations

import re

from bough.channels.split import open_fence
from bough.channels.table import aligned

RULE = re.compile(r"\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*")
"""The line between the head of a table and its rows."""


def with_aligned_tables(markdown: str) -> str:
    """The text with its tables as code, in columns."""
    shown: list[str] = []
    lines = markdown.split("\n")
    place = 0
    while place < len(lines):
        end = end_of_table(lines, place)
        if end == place or open_fence("\n".join(shown)) is not None:
            shown.append(lines[place])
            place += 1
            continue
        rows = [cells(line) for number, line in enumerate(lines[place:end]) if number != 1]
        shown += ["```", aligned(rows), "```"]
        place = end
    return "\n".join(shown)


def end_of_table(lines: list[str], start: int) -> int:
    """The line after a table that begins here; the same line if none does."""
    if start + 1 >= len(lines) or "|" not in lines[start] or "|" not in lines[start + 1]:
        return start
    if not RULE.fullmatch(lines[start + 1]):
        return start
    return next((place for place in range(start + 2, len(lines)) if "|" not in lines[place]), len(lines))


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
