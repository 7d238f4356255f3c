"""Times for imported messages that have none: the nearest known time of their conversation, never the present."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.model.imported import ImportedMessage

Times = dict[str, int | None]


def nearest_times(
    messages: Sequence[ImportedMessage], stored: Callable[[str], int | None], otherwise: int | None
) -> Times:
    """A time for each message: its own, or one just after its parent's, or just before that of its first descendant.

    `stored` is the time of an earlier message of the conversation, by its external id. `otherwise` is for a
    conversation in which no message has a time. None if nothing is known.
    """
    if all(one.created_at is not None for one in messages):  # nearly every batch
        return {one.id: one.created_at for one in messages}
    times: Times = {}
    for one in messages:
        times[one.id] = one.created_at if one.created_at is not None else _after(one.parent, times, stored)
    undated = {id for id, time in times.items() if time is None}
    for one in reversed(messages):
        time = times[one.id]
        if one.parent in undated and time is not None:
            assert one.parent is not None
            before = times[one.parent]
            times[one.parent] = time - 1 if before is None else min(before, time - 1)
    for one in messages:
        if times[one.id] is None:
            times[one.id] = _after(one.parent, times, stored)
        if times[one.id] is None:
            times[one.id] = otherwise
    return times


def _after(parent: str | None, times: Times, stored: Callable[[str], int | None]) -> int | None:
    if parent is None:
        return None
    time = times[parent] if parent in times else stored(parent)
    return None if time is None else time + 1
