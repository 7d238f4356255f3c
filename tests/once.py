"""What is fetched from elsewhere is fetched once, however many test processes want it at the same moment."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def once(place: Path) -> Iterator[Path]:
    """Whoever is second waits, and finds the place filled."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{place}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield place
