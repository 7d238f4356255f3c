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
    """A store with so many sessions, `s:0` and so on, of so many turns of two messages. Its clock runs on."""
    ticks = count(START, STEP)
    store = bough.connect(path, clock=lambda: next(ticks))
    for start in range(0, count_, AT_ONCE):
        some = range(start, min(start + AT_ONCE, count_))
        prepared = [whole_turns(store, f"session {n}", turns) for n in some]

        def save(now: int, some: range = some, prepared: list[list[WholeTurn]] = prepared) -> None:
            for n, whole in zip(some, prepared, strict=True):
                at = now + n
                sessions.make_or_update(store.db, f"s:{n}", sessions.Description(directory=f"/d{n}"), at)
                save_turns(store.db, f"s:{n}", whole, None, at)

        store.write(save)
    return store


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
