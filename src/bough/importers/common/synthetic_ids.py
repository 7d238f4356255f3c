"""Names and order for messages whose programs give them none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b

from bough.model import Json


def chained(values: Iterable[Json], before: str = "") -> Iterator[str]:
    """A name for each of these values, made of itself and all before it: dialogs that begin alike share names."""
    so_far = blake2b(before.encode("utf-8", "surrogatepass"), digest_size=12)
    for value in values:
        so_far.update(json.dumps(value, sort_keys=True).encode())
        yield so_far.hexdigest()


def dated(id: Json, time: Json) -> str:
    """A name that is unique in one file only, made unique in all by the moment."""
    return f"{id}@{time}"


def parents_first(parents: Mapping[str, str | None]) -> Iterator[tuple[str, str | None]]:
    """Each name with its parent, no child before its parent, in the given order otherwise.

    A parent that is not among the names is None; a circle is cut above the first of its names.
    """
    done: set[str] = set()
    for name in parents:
        waiting: list[str] = []
        at: str | None = name
        while at is not None and at in parents and at not in done:
            waiting.append(at)
            done.add(at)
            at = parents[at]
        # What the walk has just marked itself, it has come back to.
        if at in waiting:
            yield at, None
            waiting.remove(at)
        for one in reversed(waiting):
            above = parents[one]
            yield one, above if above in parents else None
