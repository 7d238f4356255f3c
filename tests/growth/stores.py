"""Stores of a given size, made quickly: many sessions in one transaction."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import bough
from bough import Store, assistant, user
from bough.storage import sessions
from bough.storage.append import save_turns
from bough.storage.turns import TurnDetails, WholeTurn

START = 1_700_000_000_000_000
STEP = 1000
AT_ONCE = 500
"""Sessions of one transaction."""


def grown(path: Path, count_: int, turns: int = 5) -> Store:
    """A store with so many sessions, `s:0` and so on, of so many turns of two messages, indexed. Its clock runs on.

    It is opened anew: SQLite counts the steps of a statement from when it was prepared.
    """
    ticks = count(START, STEP)
    with bough.connect(path, clock=lambda: next(ticks)) as store:
        for start in range(0, count_, AT_ONCE):
            fill(store, range(start, min(start + AT_ONCE, count_)), turns)
        store.index()
    return bough.connect(path, clock=lambda: next(ticks))


def fill(store: Store, numbers: range, turns: int) -> None:
    """Adds sessions with these numbers, in one transaction."""
    prepared = [whole_turns(store, f"session {n}", turns) for n in numbers]

    def save(now: int) -> None:
        for n, whole in zip(numbers, prepared, strict=True):
            sessions.make_or_update(store.db, f"s:{n}", sessions.Description(directory=f"/d{n}"), now + n)
            save_turns(store.db, f"s:{n}", whole, None, now + n)

    store.write(save)


def whole_turns(store: Store, about: str, count_: int) -> list[WholeTurn]:
    """Turns of a question and an answer."""
    return [
        WholeTurn(
            store.prepare([user(f"{about} question {n}"), assistant(f"answer {n} of {about}")]),
            TurnDetails(directory=f"/{about}"),
            {},
        )
        for n in range(count_)
    ]
