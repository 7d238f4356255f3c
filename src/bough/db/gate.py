"""A fair queue for writers of one file, in any number of processes.

SQLite's own busy handler lets whoever asks at the right moment go first: of eight writers, one got a single turn in
five seconds. Here a writer takes two locks of a lock file beside the database: first `next`, which only one waiter
holds, then `turn`, which it polls quickly while the others wait for `next`. Handing over costs more than a short
transaction does, so a writer that comes back at once may go on without queueing, for a slice of time; then it must
queue behind whoever holds `next`, and nobody barges in. The kernel drops both locks when a process dies.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

try:
    import fcntl
except ImportError:  # no such locks on this system: SQLite's busy handler is all there is
    fcntl = None  # type: ignore[assignment]

from bough.errors import Busy

QUICK = 0.0005
SLOW = (0.001, 0.004)
SLICE = 0.01


class Gate:
    """Held while writing: `with gate: …`. Raises `Busy` when it does not open within the patience given."""

    def __init__(self, path: str, patience: float) -> None:
        self.path = path
        self.patience = patience
        self._file = -1
        self._slice_ends = 0.0
        if fcntl:
            try:
                self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                self._file = -1  # a directory that cannot be written: then neither can the database

    def __enter__(self) -> None:
        if self._file < 0:
            return
        began = time.monotonic()
        if began < self._slice_ends and self._try(fcntl.flock):
            return
        deadline = began + self.patience
        self._wait(fcntl.lockf, deadline, SLOW)
        try:
            self._wait(fcntl.flock, deadline, (QUICK, QUICK))
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN)
        self._slice_ends = time.monotonic() + SLICE

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _wait(self, lock: Callable[[int, int], object], deadline: float, pause: tuple[float, float]) -> None:
        # lockf and flock are two independent locks on one file: the one is `next`, the other `turn`.
        from random import uniform

        while not self._try(lock):
            if time.monotonic() > deadline:
                raise Busy(f"Others kept writing for {self.patience:g} seconds; nothing was written. Try again.")
            time.sleep(uniform(*pause))

    def _try(self, lock: Callable[[int, int], object]) -> bool:
        try:
            lock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
