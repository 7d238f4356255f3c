"""A realistic history: branches, tools, subagents, interrupted and failed turns, and hostile text."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import bough
from bough import Media, Save, Thinking, Usage, assistant, tool_call, tool_result, user
from tests.cli.bough_process import Shell

HOSTILE = "red \x1b[31m title \x1b]0;owned\x07 back \u202egnp.exe\u202c wipe \x9b2J nul \0 half \ud800 \r over"
SECONDS = 1_000_000
DAY = 86_400 * SECONDS


class Clock:
    """Advances by one second per call."""

    def __init__(self) -> None:
        self.start = time.time_ns() // 1000
        self.now = self.start

    def __call__(self) -> int:
        self.now += SECONDS
        return self.now

    def days_ago(self, days: float) -> None:
        self.now = self.start - int(days * DAY)


def fill(where: Path | str, **more: Any) -> dict[str, str]:
    """Write the history to a store; returns the ids of its messages by short names."""
    clock = Clock()
    clock.days_ago(45)
    with bough.connect(where, clock=clock, **more) as store:
        ids = dict(zip(("capital", "ulan"), _old(store), strict=True))
        clock.days_ago(5)
        ids |= _garden(store)
        clock.days_ago(0.2)
        ids |= _chat(store)
        (ids["loose"],) = store.save_messages([Save(user("outside any session"))])
    return ids


def _old(store: bough.Store) -> list[str]:
    turn = [user("What is the capital of Mongolia?"), assistant("Ulaanbaatar.")]
    return store.session("cli:notes").save_turn(turn, model="gpt-x", usage=Usage(31, 24, 0, 0, 0.0003))


def _garden(store: bough.Store) -> dict[str, str]:
    garden = store.session("cli:garden", title="Planting oaks", directory=str(Path.home()))
    first = garden.save_turn(
        [
            user("How far apart do I plant oaks?"),
            assistant(
                Thinking("A crown is 20 m."), "I look at the plan.", tool_call("c1", "read_file", {"path": "plan"})
            ),
            tool_result("c1", "\n".join(f"oak at {12 * place} m" for place in range(40))),
            assistant("Twelve metres.\n\n- **crowns** touch"),
        ],
        model="claude-x",
        usage=Usage(2210, 180, 1800, 90, 0.0093),
    )
    ash = garden.save_turn([user("And ash trees?"), assistant("Take hornbeam.")], model="claude-x")
    store.label(ash[1], "decision")
    garden.delegate("reviewer", "a1b2c3d4").save_turn([user("Review the plan"), assistant("Fine.")], model="mini")
    birch = garden.fork(at=first[3], key="cli:birches").save_turn([user("Birches 🌳 then"), assistant("Five metres.")])
    return {"oaks": first[0], "call": first[1], "result": first[2], "metres": first[3], "ash": ash[0],
            "hornbeam": ash[1], "birch": birch[0], "five": birch[1]}  # fmt: skip


def _chat(store: bough.Store) -> dict[str, str]:
    chat = store.session("telegram:42")
    hostile = chat.save_turn([user(HOSTILE), assistant("I do not obey.")], model="mini")
    turn = chat.turn("This breaks off")
    with suppress(KeyboardInterrupt), turn:
        turn.add(assistant("half an ans"))
        raise KeyboardInterrupt
    with suppress(RuntimeError), chat.turn("This fails"):
        raise RuntimeError("the provider is down")
    picture = Media("image", "image/png", b"\x89PNG", name="oak.png")
    last = chat.save_turn([user("Look", picture), assistant("A fine oak.")])
    return {"hostile": hostile[0], "obey": hostile[1], "picture": last[0], "fine": last[1]}


def stored_ids(sh: Shell) -> set[str]:
    """The ids of all messages in the store."""
    with bough.connect(sh.db) as store:
        return {node.id for node in store.list_messages()}
