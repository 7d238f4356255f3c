"""Times are stored as microseconds since 1970, UTC; here they are converted from and to datetimes, ISO 8601 and
what people write."""

from __future__ import annotations

import time as clock
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias, overload

from bough.errors import Invalid

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    Time: TypeAlias = int | datetime
    """What a parameter accepts as a time: microseconds since 1970, or a datetime; a naive one is local time."""
    Span: TypeAlias = float | timedelta
    """What a parameter accepts as a span: seconds, or a timedelta."""

# `datetime` is imported in the functions: `import bough` does not need it.

EARLIEST = 10**14
"""A smaller number (before March 1973) is a time in seconds or milliseconds by mistake."""
LATEST = 2**62
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}


def micros(time: Time, name: str = "The time") -> int:
    """Microseconds since 1970, UTC. Raises `Invalid` for seconds, and for anything but an int or a datetime."""
    if isinstance(time, int) and not isinstance(time, bool):
        if 0 < abs(time) < EARLIEST:
            raise Invalid(f"{name} is in microseconds since 1970 or a datetime, and {time} looks like seconds.")
        if abs(time) > LATEST:
            raise Invalid(f"{name} is in microseconds since 1970, and {time:.3g} is out of range.")
        return time
    from datetime import UTC, datetime, timedelta

    if not isinstance(time, datetime):
        raise Invalid(f"{name} is an int (microseconds since 1970) or a datetime, not {time!r:.60}.")
    if time.tzinfo is None:
        with suppress(ValueError, OverflowError):  # datetime.min and datetime.max have no local time
            time = time.astimezone()
    return (time.replace(tzinfo=time.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def span(length: Span, name: str = "The span") -> int:
    """Microseconds of a span. Raises `Invalid` for a negative one, and for anything but a number or a timedelta."""
    from datetime import timedelta

    seconds = length.total_seconds() if isinstance(length, timedelta) else length
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 <= seconds < float("inf"):
        raise Invalid(f"{name} is a number of seconds or a timedelta, not negative, not {length!r:.60}.")
    return min(int(seconds * 1_000_000), LATEST)


@overload
def moment(time: int) -> datetime: ...


@overload
def moment(time: int | None) -> datetime | None: ...


def moment(time: int | None) -> datetime | None:
    """The datetime, in UTC, of microseconds since 1970; None for None."""
    if time is None:
        return None
    from datetime import UTC, datetime, timedelta

    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time)


def iso(microseconds: int | None) -> str | None:
    """A time in microseconds as ISO 8601 in UTC."""
    if microseconds is None:
        return None
    seconds, micro = divmod(microseconds, 1_000_000)
    return f"{clock.strftime('%Y-%m-%dT%H:%M:%S', clock.gmtime(seconds))}.{micro:06d}Z"


def parse_duration(text: str) -> float:
    """The seconds in `30d`, `12h`, `2w` or `90m`; a bare number is days. Raises `Invalid`."""
    import re

    found = re.fullmatch(r"(\d{1,15}(?:\.\d+)?)\s*([smhdwy]?)", text.strip().lower())
    if not found:
        raise Invalid(f"{text!r:.60} is not a duration; write 30d, 12h, 2w or 90m.")
    return float(found[1]) * UNITS[found[2] or "d"]


def parse_time(text: str, now: float | None = None) -> int:
    """The microseconds of `2026-11-16`, `2026-11`, `2026-11-16T08:30`, or of an age such as `7d`. Raises `Invalid`."""
    from datetime import datetime

    year, dash, month = text.partition("-")
    if len(year) == 4 and len(month) == 2 * len(dash) and (year + month).isdecimal():  # 2026 is no number of days
        text = f"{year}-{month or '01'}-01"
    with suppress(ValueError, OverflowError):
        return int(datetime.fromisoformat(text).timestamp() * 1_000_000)
    try:
        age = parse_duration(text)
    except Invalid:
        raise Invalid(f"{text!r:.60} is not a time; write 2026-11-16, 2026-11-16T08:30, or an age: 7d.") from None
    return max(int(((clock.time() if now is None else now) - age) * 1_000_000), -LATEST)
