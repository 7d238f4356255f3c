"""Eight processes that write to one file, each to a session of its own or all to the same one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import bough
from bench.measure import QUIET_COMMIT, Result, Scale
from bench.process import start
from bench.raw import Raw


@dataclass(frozen=True, slots=True)
class Outcome:
    """Combined result of the writers of one run."""

    rate: float
    """turns a second"""
    fairness: float
    """turns of the slowest, to those of the fastest"""
    errors: int
    longest: float
    """longest wait for one turn, in seconds"""
    lost: int


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    half = replace(scale, writers=max(2, scale.writers // 2))
    for some, shared, where in ((scale, False, "one file"), (scale, True, "one session"), (half, True, "one session")):
        mine, theirs = [], []
        for number in range(some.writer_runs):
            place = directory / f"{some.writers}{shared}{number}"
            mine.append(outcome(some, "bough", place.with_suffix(".db"), shared))
            theirs.append(outcome(some, "raw", place.with_suffix(".raw"), shared))
        yield from results(f"{some.writers} writers, {where}", mine, theirs)


def results(name: str, mine: list[Outcome], theirs: list[Outcome]) -> Iterator[Result]:
    ratio = median(a.rate / b.rate for a, b in zip(mine, theirs, strict=True))
    rates = [median(one.rate for one in run) for run in (mine, theirs)]
    fair = [median(one.fairness for one in run) for run in (mine, theirs)]
    waits = [max(one.longest for one in run) for run in (mine, theirs)]
    faults = [sum(one.errors + one.lost for one in run) for run in (mine, theirs)]
    detail, busy = f"{rates[0]:,.0f} : {rates[1]:,.0f} turns/s", rates[1] < 1 / QUIET_COMMIT
    yield Result(f"{name}: turns a second", ratio, at_least=0.8, detail=detail, flattered=busy)
    yield Result(f"{name}: slowest to fastest", fair[0], "", at_least=0.25, detail=f"{fair[0]:.2f} : {fair[1]:.2f}")
    yield Result(f"{name}: errors and lost turns", faults[0], "", at_most=0, detail=f"{faults[0]} : {faults[1]}")
    yield Result(
        f"{name}: longest wait", waits[0] * 1000, " ms", detail=f"{waits[0] * 1000:,.0f} ms : {waits[1] * 1000:,.0f} ms"
    )


def outcome(scale: Scale, name: str, file: Path, shared: bool) -> Outcome:
    keys = ["cli:shared" if shared else f"cli:{number}" for number in range(scale.writers)]
    make(name, file, keys)
    writers = [
        start("-m", "bench.write_many", name, file, key, scale.seconds, number) for number, key in enumerate(keys)
    ]
    for writer in writers:
        assert writer.stdout is not None
        writer.stdout.readline()
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    outputs = [json.loads(writer.communicate()[0]) for writer in writers]
    turns = [one["turns"] for one in outputs]
    return Outcome(
        rate=sum(turns) / scale.seconds,
        fairness=min(turns) / max(turns),
        errors=sum(one["errors"] for one in outputs),
        longest=max(one["longest"] for one in outputs),
        lost=sum(one["messages"] for one in outputs) - kept(name, file, set(keys)),
    )


def make(name: str, file: Path, keys: list[str]) -> None:
    if name == "bough":
        with bough.connect(file) as store:
            for key in keys:
                store.session(key)
    else:
        raw = Raw(file)
        for key in dict.fromkeys(keys):
            raw.session(key)
        raw.close()


def kept(name: str, file: Path, keys: set[str]) -> int:
    """The number of messages in the dialogs of these sessions."""
    if name == "bough":
        with bough.connect(file) as store:
            return sum(len(store.session(key).path()) for key in keys)
    raw = Raw(file)
    found = sum(sum(row[0] is not None for row in raw.path(key)) for key in keys)
    raw.close()
    return found
