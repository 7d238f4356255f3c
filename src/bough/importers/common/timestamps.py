"""Parse times of other programs into microseconds since 1970, UTC."""

from __future__ import annotations

from datetime import UTC, datetime

from bough.model import Json

LATEST = 253_402_300_799 * 1_000_000
"""The end of the year 9999."""
MOST_SECONDS = 20_000_000_000
"""A larger number is in milliseconds: as seconds it would be later than the year 2600."""


def from_iso(text: Json) -> int | None:
    """`2025-09-03T00:47:19.293Z`, `2025-09-03 00:47:19`, with any offset, else UTC. None if it is no time."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def from_seconds(number: Json) -> int | None:
    """Seconds since 1970, whole or not."""
    return _within(number, 1_000_000)


def from_milliseconds(number: Json) -> int | None:
    """Milliseconds since 1970."""
    return _within(number, 1_000)


def from_any(time: Json) -> int | None:
    """A time as text, or a number of seconds or milliseconds, told apart by its size."""
    if isinstance(time, str):
        return from_iso(time)
    is_large = isinstance(time, (int, float)) and time > MOST_SECONDS
    return from_milliseconds(time) if is_large else from_seconds(time)


def _within(number: Json, scale: int) -> int | None:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return None
    return round(number * scale) if 0 < number * scale <= LATEST else None
