"""Ids and order for messages whose source has none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b

from bough.model import Json


def chained(values: Iterable[Json], before: str = "") -> Iterator[str]:
    """An id for each value, from itself and all before it: dialogs with equal beginnings share ids."""
    state = blake2b(before.encode("utf-8", "surrogatepass"), digest_size=12)
    for value in values:
        state.update(json.dumps(value, sort_keys=True).encode())
        yield state.hexdigest()


def dated(id: Json, time: Json) -> str:
    """An id that is unique within one file, made globally unique by a time."""
    return f"{id}@{time}"


def parents_first(parents: Mapping[str, str | None]) -> Iterator[tuple[str, str | None]]:
    """Each name with its parent, parents before children, otherwise in the given order.

    A parent that is not among the names becomes None; a cycle is cut above the first of its names.
    """
    done: set[str] = set()
    for name in parents:
        chain: list[str] = []
        at: str | None = name
        while at is not None and at in parents and at not in done:
            chain.append(at)
            done.add(at)
            at = parents[at]
        # The walk has come back to a name of this chain: it is a cycle.
        if at in chain:
            yield at, None
            chain.remove(at)
        for member in reversed(chain):
            above = parents[member]
            yield member, above if above in parents else None
