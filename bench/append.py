"""Appending a turn: to an empty store, step by step, and to a long conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bough
from bench.measure import Contest, Result, Scale, Work, contest, cpu_contest, rounds_of
from bench.raw import MODEL, PROVIDER, USAGE, Raw, RawMessage
from bench.rows import prepared
from bench.workload import Conversation, conversation, dialog, some_turns

KEY = "cli:bench"
REPLY: dict[str, Any] = {
    "model": MODEL, "provider": PROVIDER, "usage": bough.Usage(USAGE[0], USAGE[1], USAGE[2], cost=USAGE[3])
}  # fmt: skip
"""What is known of every reply."""


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    per, rounds = scale.turns_per_round, 3 * scale.rounds  # disk latency varies, so the median needs many rounds
    talk = some_turns(rounds * per)
    parts = [talk[start : start + per] for start in range(0, len(talk), per)]
    raw_parts = [prepared(part) for part in parts]
    with bough.connect(directory / "append.db") as store:
        raw = Raw(directory / "append-raw.db")
        raw.session(KEY)
        session = store.session(KEY)
        whole = contest(rounds, lambda n: saving(session, parts[n]), lambda n: appending(raw, raw_parts[n]))
        yield Result(
            "append a turn: `save_turn`",
            whole.ratio,
            at_most=1.2,
            detail=whole.detail(per),
            flattered=whole.flattered(per),
        )
        cpu = cpu_contest(rounds, lambda n: saving(session, parts[n]), lambda n: appending(raw, raw_parts[n]))
        yield Result("append a turn: `save_turn`, processor time only", cpu.ratio, at_most=1.4, detail=cpu.detail(per))
        steps = contest(rounds, lambda n: stepping(session, parts[n]), lambda n: appending(raw, raw_parts[n]))
        yield Result(
            "append a turn: `turn()`, `add`, end (three commits)", steps.ratio, at_most=2.2, detail=steps.detail(per)
        )
        raw.close()
    yield from growth(scale, directory)


def growth(scale: Scale, directory: Path) -> Iterator[Result]:
    """The cost of appending to a long conversation, compared with a short one and with raw."""
    part = [turn for turn in some_turns(scale.turns_per_round, seed=1) if len(turn) == 2]
    long_, short = conversation(scale.long), conversation(10)
    with bough.connect(directory / "long.db") as store, bough.connect(directory / "short.db") as small:
        session = store.session(KEY)
        session.record(dialog(long_))
        raw = Raw(directory / "long-raw.db")
        raw.session(KEY)
        raw.load(KEY, prepared(long_))

        def to_short(number: int) -> Work:
            fresh = small.session(f"cli:{number}")
            fresh.record(dialog(short))
            return saving(fresh, part)

        mine, mine_short, theirs = rounds_of(
            scale.rounds, lambda _: saving(session, part), to_short, lambda _: appending(raw, prepared(part))
        )
        raw.close()
    grown, against_raw = Contest(mine, mine_short), Contest(mine, theirs)
    name = f"append at {scale.long:,} messages"
    busy = against_raw.flattered(len(part))
    for other, found, most in (("append at 10", grown, 1.1), ("raw", against_raw, 1.2)):
        detail = found.detail(len(part))
        yield Result(f"{name}, to {other}", found.ratio, at_most=most, detail=detail, flattered=busy)


def saving(session: bough.Session, talk: Conversation) -> Work:
    def work() -> None:
        for turn in talk:
            session.save_turn(turn, **REPLY)

    return work


def stepping(session: bough.Session, talk: Conversation) -> Work:
    def work() -> None:
        for first, *rest in talk:
            with session.turn(first) as turn:
                turn.add(rest, **REPLY)

    return work


def appending(raw: Raw, talk: list[list[RawMessage]]) -> Work:
    def work() -> None:
        for turn in talk:
            raw.append(KEY, turn)

    return work
