"""Moments and spans: relative for people, ISO for programs."""

from __future__ import annotations

import re
import time

from bough.errors import Invalid

UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
AGO = ((31_557_600, "y"), (2_629_800, "mo"), (604_800, "w"), (86_400, "d"), (3600, "h"), (60, "m"))


def iso(moment: int | None) -> str | None:
    """A moment in microseconds as ISO 8601, UTC."""
    if moment is None:
        return None
    seconds, micro = divmod(moment, 1_000_000)
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(seconds))}.{micro:06d}Z"


def minute(moment: int) -> str:
    """A moment as a person writes it, in local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment // 1_000_000))


def ago(moment: int, now: float | None = None) -> str:
    """How long ago: `just now`, `5m ago`, `3d ago`."""
    passed = (time.time() if now is None else now) - moment / 1_000_000
    for seconds, unit in AGO:
        if passed >= seconds:
            return f"{int(passed // seconds)}{unit} ago"
    return "just now"


def parse_duration(text: str) -> float:
    """Seconds in `30d`, `12h`, `2w`, `90m`; a bare number means days. Raises `Invalid`."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhdwy]?)", text.strip().lower())
    if not found:
        raise Invalid(f"{text!r} is no span of time; write 30d, 12h, 2w or 90m.")
    return float(found[1]) * UNITS[found[2] or "d"]


def parse_time(text: str, now: float | None = None) -> int:
    """Microseconds of `2026-11-16`, `2026-11-16T08:30`, or of a span ago (`7d`). Raises `Invalid`."""
    from datetime import datetime

    try:
        return int(datetime.fromisoformat(text).timestamp() * 1_000_000)
    except ValueError:
        pass
    try:
        return int(((time.time() if now is None else now) - parse_duration(text)) * 1_000_000)
    except Invalid:
        raise Invalid(f"{text!r} is no moment; write 2026-11-16, 2026-11-16T08:30, or a span such as 7d.") from None


def format_time(moment: int) -> str:
    """A moment for a list: relative where a person reads it, to the minute where a file does."""
    from bough.cli.output.console import on_terminal

    return ago(moment) if on_terminal() else minute(moment)
