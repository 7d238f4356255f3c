"""The order of an import: the conversation that was used last comes last (docs/decisions/0014).

Lists of a store are in the order of arrival, so this is the order that users see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import IO, Any, TypeVar

from bough.importers.common.timestamps import from_iso

TAIL = 65_536
"""Bytes at the end of a log that are searched for its last timestamp, instead of reading all of it."""
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')

T = TypeVar("T")


def latest_last(items: Iterable[T], last_used: Callable[[T], Any], family: Callable[[T], Hashable]) -> list[T]:
    """Conversations in the order of their last use. A family stays together, in its given order.

    A family are conversations that refer to one another: forks and subagents follow their origin.
    """
    families: dict[Hashable, list[T]] = {}
    for item in items:
        families.setdefault(family(item), []).append(item)
    return [
        item
        for members in sorted(families.values(), key=lambda members: max(map(last_used, members)))
        for item in members
    ]


def eldest(parents: Mapping[str, str | None]) -> dict[str, str]:
    """For each name, the oldest ancestor; a cycle ends where it closes."""
    found: dict[str, str] = {}
    for name in parents:
        path = [name]
        while (parent := parents.get(path[-1])) is not None and parent not in found and parent not in path:
            path.append(parent)
        found |= dict.fromkeys(path, found.get(parent or "", path[-1]))
    return found


def last_time(stream: IO[bytes]) -> int:
    """The last timestamp of a log, read from its end; 0 if there is none."""
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - TAIL))
    times = _TIME.findall(stream.read(TAIL))
    return (from_iso(times[-1].decode("ascii", "replace")) or 0) if times else 0
