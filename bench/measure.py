"""Measure ratios: contestants alternate inside a round, ratios are taken per round, and medians over the rounds.

The machine is shared and the latency of its disk varies. What slows one contestant slows the other too if both run
within the same tenth of a second, so the ratio is stable where the milliseconds are not.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes and repetitions of the measurements."""

    rounds: int = 15
    turns_per_round: int = 40
    long: int = 10_000
    """messages in the long conversation"""
    paths: tuple[int, ...] = (100, 1_000, 10_000)
    conversations: int = 10_000
    indexed: int = 100_000
    """messages in the store that is searched"""
    writers: int = 8
    seconds: float = 3.0
    """for which the writers write"""
    writer_runs: int = 3
    starts: int = 9
    """rounds of the measurements that start a process"""
    megabytes: float = 100
    """of each history that is imported"""


UNUSUAL = 2.5
"""A round does not count in which raw took so many times its lowest decile: something else used the machine."""
QUIET_COMMIT = 0.001
"""Seconds that a raw commit takes at most while the disk is quiet (0.4 ms is usual)."""

FULL = Scale()
QUICK = Scale(
    rounds=2, turns_per_round=3, long=300, paths=(20, 100, 300), conversations=30, indexed=300,
    writers=3, seconds=0.2, writer_runs=1, starts=1, megabytes=1,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the table."""

    name: str
    value: float
    unit: str = "×"
    at_most: float | None = None
    at_least: float | None = None
    detail: str = ""
    flattered: bool = False
    """Whether the disk was so busy that the wait, which is the same for both, hid the difference."""

    @property
    def target(self) -> str:
        if self.at_most is not None:
            return f"≤ {self.at_most:g}{self.unit}"
        return "" if self.at_least is None else f"≥ {self.at_least:g}{self.unit}"

    @property
    def verdict(self) -> str:
        if math.isnan(self.value):
            return "?"
        if self.at_most is None and self.at_least is None:
            return ""
        met = (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )
        return "✗" if not met else "?" if self.flattered else "✓"


Work: TypeAlias = Callable[[], object]
Measurement: TypeAlias = Callable[[Scale, Path], Iterator[Result]]


@dataclass(frozen=True, slots=True)
class Contest:
    """The times of two contestants, round by round, in seconds."""

    mine: list[float]
    theirs: list[float]

    @property
    def ratio(self) -> float:
        """The median of the rounds in which the other side took no more than is usual for it.

        Not a number if those are too few: then the machine decided, and the run is rejected.
        """
        usual = UNUSUAL * sorted(self.theirs)[len(self.theirs) // 10]
        kept = [a / b for a, b in zip(self.mine, self.theirs, strict=True) if b <= usual]
        return median(kept) if 2 * len(kept) >= len(self.theirs) else math.nan

    def flattered(self, commits: int) -> bool:
        return median(self.theirs) / commits > QUIET_COMMIT

    def detail(self, per: int = 1) -> str:
        return f"{duration(median(self.mine) / per)} : {duration(median(self.theirs) / per)}"


def rounds_of(
    number: int, *contestants: Callable[[int], Work], clock: Callable[[], float] = perf_counter
) -> list[list[float]]:
    """The seconds each contestant took, round by round.

    A contestant gets the number of the round, does what should not be timed, and returns the work.
    """
    times: list[list[float]] = [[] for _ in contestants]
    order = list(enumerate(contestants))
    for round_ in range(number):
        order.reverse()
        for place, contestant in order:
            work = contestant(round_)
            gc.collect()
            times[place].append(seconds(work, clock))
    return times


def contest(number: int, mine: Callable[[int], Work], theirs: Callable[[int], Work]) -> Contest:
    return Contest(*rounds_of(number, mine, theirs))


def cpu_contest(number: int, mine: Callable[[int], Work], theirs: Callable[[int], Work]) -> Contest:
    """Processor time only. A slow disk adds the same wait to both sides and so brings their ratio near 1; not here."""
    return Contest(*rounds_of(number, mine, theirs, clock=process_time))


def seconds(work: Work, clock: Callable[[], float] = perf_counter) -> float:
    began = clock()
    kept = work()  # noqa: F841 - freeing the result is not part of the work
    return clock() - began


def duration(time: float) -> str:
    return f"{time:.1f} s" if time >= 1 else f"{time * 1000:.3g} ms"
