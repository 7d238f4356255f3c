"""Limits of a run in time: a deadline, and stopping from another thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Literal, TypeAlias

Reason: TypeAlias = Literal["steps", "time", "stopped"]
"""Why a run ended before the model's final reply."""


class Stop:
    """Signal to stop. A long-running tool polls it, waits for it, or adds a callback."""

    def __init__(self) -> None:
        self.by_user = True
        """Whether a person has stopped the run, so that it is part of the dialog; False for a limit of a caller."""
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], object]] = []

    @property
    def is_set(self) -> bool:
        """Whether the signal is set."""
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the signal, up to `seconds`; return whether it is set."""
        return self._event.wait(seconds)

    def set(self, *, by_user: bool = True) -> None:
        """Set the signal and call the callbacks. Safe to call twice; the first call says by whom."""
        with self._lock:
            if not self._event.is_set():
                self.by_user = by_user
            self._event.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:  # outside the lock: a callback may use this object
            callback()

    def add_callback(self, callback: Callable[[], object]) -> None:
        """Call `callback` when the signal is set; at once if it already is."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()


class Deadline:
    """The end of a run: a time limit, or the caller's `Stop`."""

    def __init__(self, seconds: float | None = None, stop: Stop | None = None) -> None:
        self.stop = stop or Stop()
        self._ends_at = None if seconds is None else time.monotonic() + seconds

    @property
    def reason(self) -> Reason | None:
        """Why the run must end now; None while it may continue."""
        if self.stop.is_set:
            return "stopped"
        return "time" if self._ends_at is not None and time.monotonic() >= self._ends_at else None

    @property
    def by_user(self) -> bool:
        """Whether a person has stopped the run."""
        return self.stop.is_set and self.stop.by_user

    def left(self, most: float | None = None) -> float | None:
        """Seconds left, at most `most`; None without any limit."""
        if self._ends_at is None:
            return most
        left = max(0.0, self._ends_at - time.monotonic())
        return left if most is None else min(left, most)
