"""Tables as text in columns, for services that show none."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows of a table, the first one being its head, with columns of equal width."""
    if not rows:
        return ""
    count = max(map(len, rows))
    filled = [[*row, *[""] * (count - len(row))] for row in rows]
    widths = [max(len(row[column]) for row in filled) for column in range(count)]
    lines = [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in filled]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(lines)
