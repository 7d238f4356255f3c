"""How long a run may go on: until its time is up, or until nobody waits for it any more."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

Reason: TypeAlias = Literal["steps", "time", "stopped"]
"""Why a run ended before the model had said its last word."""


class Stop:
    """Says that nobody waits any more. A tool that takes long looks at it now and then, or asks to be told."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        """Whether it has happened."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Sleeps until nobody waits any more, or for this long; says which."""
        return self._event.wait(seconds)

    def set(self) -> None:
        """Tells everyone who asked to be told. Safe to call twice."""
        with self._lock:
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Asks to be told; at once, if it has happened already."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()


class Deadline:
    """The end of a run's time: a moment, or the `Stop` of whoever asked for the run."""

    def __init__(self, seconds: float | None = None, stop: Stop | None = None) -> None:
        self.stop = stop or Stop()
        self._ends_at = None if seconds is None else time.monotonic() + seconds

    @property
    def reason(self) -> Reason | None:
        """Why the run must end now; None while it may go on."""
        if self.stop.is_set:
            return "stopped"
        return "time" if self._ends_at is not None and time.monotonic() >= self._ends_at else None

    def left(self, most: float | None = None) -> float | None:
        """How many seconds are left, at most so many; None without any limit."""
        if self._ends_at is None:
            return most
        left = max(0.0, self._ends_at - time.monotonic())
        return left if most is None else min(left, most)
