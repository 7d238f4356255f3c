"""Times as people read them."""

from __future__ import annotations

import time

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


def format_time(microseconds: int) -> str:
    """A time for a list: relative on a terminal, else to the minute."""
    from bough.cli.output.console import on_terminal

    return ago(microseconds) if on_terminal() else to_minute(microseconds)
