"""The order in which conversations are told: the one that was used last comes last (docs/decisions/0014).

Lists of a store are in the order of arrival, so this is the order that people will see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import IO, Any, TypeVar

from bough.importers.common.timestamps import from_iso

TAIL = 65_536
_TIME = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')

T = TypeVar("T")


def latest_last(told: Iterable[T], last: Callable[[T], Any], family: Callable[[T], Hashable]) -> list[T]:
    """Conversations by when they were last used. A family stays together, and in the order in which it came.

    Of a family are those that refer to one another: what began another one, or is replayed by it, is told first.
    """
    families: dict[Hashable, list[T]] = {}
    for one in told:
        families.setdefault(family(one), []).append(one)
    return [one for some in sorted(families.values(), key=lambda some: max(map(last, some))) for one in some]


def eldest(parents: Mapping[str, str | None]) -> dict[str, str]:
    """For each name, the one that its family began with; a circle ends where it closes."""
    found: dict[str, str] = {}
    for name in parents:
        way = [name]
        while (above := parents.get(way[-1])) is not None and above not in found and above not in way:
            way.append(above)
        found |= dict.fromkeys(way, found.get(above or "", way[-1]))
    return found


def last_time(stream: IO[bytes]) -> int:
    """The time that the last lines of a log say, without reading all of it; 0 when they say none."""
    stream.seek(0, 2)
    stream.seek(max(0, stream.tell() - TAIL))
    times = _TIME.findall(stream.read(TAIL))
    return (from_iso(times[-1].decode("ascii", "replace")) or 0) if times else 0
