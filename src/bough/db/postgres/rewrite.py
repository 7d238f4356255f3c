"""Other forms of the same INSERT: several rows in one command, and a SELECT with an INSERT … VALUES."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R", bound=Sequence[Any])

SIZES = (64, 16, 8, 7, 6, 5, 4, 3, 2, 1)
"""Rows of one command. Few sizes, so that the server prepares each of them once."""
INSERT = r"(?s)INSERT INTO (\S+) \((.*?)\)\s+"


class Divided(NamedTuple):
    """INSERT … SELECT in two steps, for an engine that would collect the rows elsewhere before it inserts them."""

    select: str
    """Reads the values that are no parameters."""
    select_params: tuple[int, ...]
    """The indexes of its parameters among those of the whole."""
    insert: str
    values: tuple[int | None, ...]
    """For each column the index of its parameter; None for the next value that was read."""


@lru_cache(maxsize=256)
def several(statement: str, rows: int) -> str | None:
    """INSERT … VALUES for several rows, their parameters in a row after `$1`; None for any other statement."""
    found = re.fullmatch(INSERT + r"VALUES \((.*?)\)(\s+ON CONFLICT .*DO NOTHING)?", statement)
    if found is None or re.search(r"\bSELECT\b", statement):
        return None
    table, columns, values, rest = found.groups()
    count = max(map(int, re.findall(r"\$(\d+)", values))) - 1

    def of(row: int) -> str:
        shift = row * count
        return re.sub(r"\$(\d+)", lambda p: p[0] if p[1] == "1" else f"${int(p[1]) + shift}", values)

    return f"INSERT INTO {table} ({columns}) VALUES " + ", ".join(f"({of(row)})" for row in range(rows)) + (rest or "")


def batches(rows: Sequence[R]) -> Iterator[Sequence[R]]:
    """The rows in portions of the sizes that are prepared."""
    start = 0
    while start < len(rows):
        size = next(size for size in SIZES if size <= len(rows) - start)
        yield rows[start : start + size]
        start += size


@lru_cache(maxsize=256)
def divided(statement: str) -> Divided | None:
    """The two steps of INSERT … SELECT; None for any other statement."""
    found = re.match(INSERT + "SELECT ", statement)
    if found is None:
        return None
    table, columns = found.groups()
    pieces = _outermost(statement[found.end() :], r" (?=FROM |RETURNING |ON CONFLICT )")
    source = " ".join(piece for piece in pieces[1:] if piece.startswith("FROM "))
    rest = " ".join(piece for piece in pieces[1:] if not piece.startswith("FROM "))
    items = [item.strip() for item in _outermost(pieces[0], ",")]
    read = [item for item in items if not re.fullmatch(r"\$\d+", item)]
    used: list[int] = []

    def renumbered(parameter: re.Match[str]) -> str:
        index = int(parameter[1]) - 1
        if index not in used:
            used.append(index)
        return f"${used.index(index) + 1}"

    select = re.sub(r"\$(\d+)", renumbered, f"SELECT {', '.join(read)} {source}")
    marks = ", ".join(f"${number}" for number in range(1, len(items) + 1))
    values = tuple(None if item in read else int(item[1:]) - 1 for item in items)
    return Divided(select, tuple(used), f"INSERT INTO {table} ({columns}) VALUES ({marks}) {rest}".strip(), values)


def _outermost(text: str, separator: str) -> list[str]:
    """The pieces of a text between the separators that are outside of all parentheses."""
    places, depth = [0], 0
    for found in re.finditer(rf"[()]|{separator}", text):
        if found[0] in "()" and found[0]:
            depth += 1 if found[0] == "(" else -1
        elif depth == 0:
            places += [found.start(), found.end()]
    places.append(len(text))
    return [text[start:end] for start, end in zip(places[::2], places[1::2], strict=True)]
