"""A fair queue for writers of one file, in any number of processes.

SQLite's own busy handler lets whoever asks at the right moment go first: of eight writers, one got a single turn in
five seconds. Here a writer takes two locks of a lock file beside the database: first `next`, which only one waiter
holds, then `turn`, which it polls quickly while the others wait for `next`. Whoever comes back has to queue behind the
one that holds `next`, and nobody barges in. The kernel drops both locks when a process dies.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

try:
    import fcntl
except ImportError:  # no such locks on this system: SQLite's busy handler is all there is
    fcntl = None  # type: ignore[assignment]

from bough.errors import Busy

T = TypeVar("T")
Lock: TypeAlias = Callable[[int, int], object]


class Gate:
    """Every writer goes through it, one at a time."""

    def __init__(self, path: str, patience: float) -> None:
        self.path = path
        self.patience = patience
        self._file = -1
        if fcntl:
            try:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                self._file = -1  # a directory that cannot be written: then neither can the database

    def through(self, work: Callable[[], T]) -> T:
        """Does the work while nobody else writes. Raises `Busy` when others write for longer than the patience given.

        No `with`: Ctrl+C may come when `__exit__` is entered, and what is not left that way is not left at all.
        """
        if self._file < 0:
            return work()
        deadline = time.monotonic() + self.patience
        try:
            try:
                self._take(fcntl.lockf, deadline, patiently)
                self._take(fcntl.flock, deadline, eagerly)
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
            return work()
        finally:
            if self._file >= 0:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _take(self, lock: Lock, deadline: float, waiting: Callable[[], Iterator[float]]) -> None:
        # lockf and flock are two independent locks on one file: the one is `next`, the other `turn`.
        pauses = None
        while True:
            try:
                lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise Busy(
                        f"Others kept writing for {self.patience:g} seconds; nothing was written. Try again."
                    ) from None
            pauses = pauses or waiting()
            time.sleep(next(pauses))

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def eagerly() -> Iterator[float]:
    """The pauses of whoever is next: a usual write is over before the first of them gets long."""
    pause = 0.00004
    while True:
        yield pause
        pause = min(pause * 1.1, 0.0005)


def patiently() -> Iterator[float]:
    """The pauses of those behind, who must not all look at once."""
    from random import uniform

    while True:
        yield uniform(0.003, 0.008)
