"""A fair queue for writers of one file, in any number of processes.

It is about fairness only: SQLite's own lock keeps writers apart. SQLite's busy handler is unfair: of eight writers, one
wrote once in five seconds. Here a writer takes two locks on a lock file beside the database: first `next`, which one
waiter holds, then `write`, which it polls quickly while the others poll `next` slowly. A writer that returns queues
behind the holder of `next`. The kernel releases both locks when a process dies. A process that was stopped keeps them,
so nobody waits for long: then a writer goes past the queue, to SQLite's lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

try:
    import fcntl
except ImportError:  # no such locks on this system, only SQLite's busy handler
    fcntl = None  # type: ignore[assignment]

T = TypeVar("T")
Lock: TypeAlias = Callable[[int, int], object]

LONGEST = 1.0
"""Seconds to wait for each of the two locks. Most transactions take less than a millisecond."""


class WriteQueue:
    """Lets the writers of a file write one at a time, in the order of arrival, while none of them is stopped."""

    def __init__(self, path: str, patience: float) -> None:
        self.path = path
        self._longest = min(LONGEST, patience / 4)
        self._file = -1
        if fcntl:
            try:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            except OSError:
                self._file = -1  # a directory that cannot be written: then neither can the database

    def run(self, work: Callable[[], T]) -> T:
        """Runs work when its turn has come, or after a while in any case.

        Not a context manager: Ctrl+C on entry to `__exit__` would leave the lock taken.
        """
        if self._file < 0:
            return work()
        try:
            try:
                self._wait(fcntl.lockf, long_pauses)
                self._wait(fcntl.flock, short_pauses)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
            return work()
        finally:
            if self._file >= 0:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _wait(self, lock: Lock, pauses: Callable[[], Iterator[float]]) -> None:
        # lockf and flock are two independent locks on one file: the one is `next`, the other `write`.
        if self._is_taken(lock):
            return
        deadline = time.monotonic() + self._longest
        for pause in pauses():
            time.sleep(pause)
            if self._is_taken(lock) or time.monotonic() > deadline:
                return

    def _is_taken(self, lock: Lock) -> bool:
        try:
            lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def short_pauses() -> Iterator[float]:
    """Pauses of the next writer. Most writes are over before they get long."""
    pause = 0.00004
    while True:
        yield pause
        pause = min(pause * 1.1, 0.0005)


def long_pauses() -> Iterator[float]:
    """Pauses of the other writers, random so that they do not poll at the same time."""
    from random import uniform

    while True:
        yield uniform(0.003, 0.008)
