"""Replay a session that VS Code keeps as a log: a first state, then values set, pushed and deleted at paths."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bough.formats.payload import at
from bough.model import Json
from bough.model.imported import Skipped

INITIAL, SET, PUSH, DELETE = range(4)


def replay(records: Iterable[Json], place: str, skipped: list[Skipped]) -> Json:
    """The state after all records. A change that does not fit the state is skipped."""
    state: Any = None
    for number, record in enumerate(records, 1):
        if at(record, "kind") == INITIAL:
            state = at(record, "v")
            continue
        try:
            _change(state, record)
        except (KeyError, IndexError, TypeError) as error:
            skipped.append(Skipped(f"{place}:{number}", f"The change does not fit the session: {error!r}.", record))
    found: Json = state
    return found


def _change(state: Any, record: Any) -> None:
    *path, last = record["k"]
    for key in path:
        state = state[key]
    if record["kind"] == DELETE:
        del state[last]
    elif record["kind"] == PUSH:
        items = state.setdefault(last, []) if isinstance(state, dict) else state[last]
        if isinstance(record.get("i"), int):
            del items[record["i"] :]
        items.extend(record.get("v") or [])
    elif isinstance(state, list) and last == len(state):
        state.append(record.get("v"))
    else:
        state[last] = record.get("v")
