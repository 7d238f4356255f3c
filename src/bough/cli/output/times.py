"""Times and durations as people read and write them."""

from __future__ import annotations

import re
import time

from bough.errors import Invalid

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
AGO = ((31_557_600, "y"), (2_629_800, "mo"), (604_800, "w"), (86_400, "d"), (3600, "h"), (60, "m"))


def to_minute(microseconds: int) -> str:
    """A time as `2026-11-16 08:30`, in local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(microseconds // 1_000_000))


def ago(microseconds: int, now: float | None = None) -> str:
    """The age of a time: `just now`, `5m ago`, `3d ago`."""
    passed = (time.time() if now is None else now) - microseconds / 1_000_000
    for seconds, unit in AGO:
        if passed >= seconds:
            return f"{int(passed // seconds)}{unit} ago"
    return "just now"


def parse_duration(text: str) -> float:
    """The seconds in `30d`, `12h`, `2w` or `90m`; a bare number is days. Raises `Invalid`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdwy]?)", text.strip().lower())
    if not found:
        raise Invalid(f"{text!r} is not a duration; write 30d, 12h, 2w or 90m.")
    return float(found[1]) * UNITS[found[2] or "d"]


def parse_time(text: str, now: float | None = None) -> int:
    """The microseconds of `2026-11-16`, of `2026-11-16T08:30`, or of an age such as `7d`. Raises `Invalid`."""
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).timestamp() * 1_000_000)
    except ValueError:
        pass
    try:
        return int(((time.time() if now is None else now) - parse_duration(text)) * 1_000_000)
    except Invalid:
        raise Invalid(f"{text!r} is not a time; write 2026-11-16, 2026-11-16T08:30, or an age such as 7d.") from None


def format_time(microseconds: int) -> str:
    """A time for a list: relative on a terminal, else to the minute."""
    from bough.cli.output.console import on_terminal

    return ago(microseconds) if on_terminal() else to_minute(microseconds)
