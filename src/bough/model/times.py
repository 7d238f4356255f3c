"""Times: microseconds since 1970, UTC."""

from __future__ import annotations

import time


def iso(microseconds: int | None) -> str | None:
    """A time in microseconds as ISO 8601 in UTC."""
    if microseconds is None:
        return None
    seconds, micro = divmod(microseconds, 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{micro:06d}Z"
