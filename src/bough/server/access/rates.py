"""How many requests the holder of a token may send."""

from __future__ import annotations

import time
from collections.abc import Callable

from bough.server.problems import HttpProblem

MINUTE = 60.0


class Rates:
    """Counts requests by the name of the caller: a minute's worth at once, and then as fast as they come back."""

    def __init__(self, per_minute: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}

    def check(self, caller: str) -> None:
        """Count a request. Raises `HttpProblem` (429) for one too many."""
        if self._per_minute is None:
            return
        now = self._clock()
        left, at = self._left.get(caller, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - at) * self._per_minute / MINUTE)
        if left < 1:
            detail = f"Token {caller!r} has sent {self._per_minute} requests within a minute; this one was not done."
            raise HttpProblem(429, "rate-limit-exceeded", detail, is_retryable=True)
        self._left[caller] = left - 1, now
