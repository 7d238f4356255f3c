"""The list of the most recent conversations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bough
from bench.measure import Result, Scale, contest
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import some_turns

SHOWN = 50


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    talk = some_turns(20)
    raw_talk = prepared(talk)
    raw = Raw(directory / "recent-raw.db")
    with bough.connect(directory / "recent.db") as store:
        for number in range(scale.conversations):
            key, turn = f"telegram:{number}", number % len(talk)
            store.session(key, title=f"Conversation {number}").save_turn(talk[turn])
            raw.session(key)
            raw.append(key, raw_talk[turn])
        found = contest(
            4 * scale.rounds, lambda _: lambda: store.sessions(limit=SHOWN), lambda _: lambda: raw.recent(SHOWN)
        )
        shown = contest(
            4 * scale.rounds,
            lambda _: lambda: store.previews(store.sessions(limit=SHOWN)),
            lambda _: lambda: raw.previews(SHOWN),
        )
        assert [preview.messages for preview in store.previews(store.sessions(limit=SHOWN))] == [
            row[16] for row in raw.previews(SHOWN)
        ]
    raw.close()
    yield Result(
        f"{SHOWN} most recent of {scale.conversations:,}, with previews", shown.ratio, at_most=2.0,
        detail=shown.detail(),
    )  # fmt: skip
    yield Result(
        f"{SHOWN} most recent of {scale.conversations:,} conversations", found.ratio, at_most=2.0, detail=found.detail()
    )
