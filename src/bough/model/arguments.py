"""Checks of arguments. Each raises `Invalid` that names the argument and the values it may have."""

from __future__ import annotations

from collections.abc import Iterable

from bough.errors import Invalid


def one_of(name: str, value: object, allowed: Iterable[str]) -> None:
    """Refuses a value that is not one of the allowed ones; None is allowed."""
    allowed = tuple(allowed)
    if value is not None and value not in allowed:
        raise Invalid(f"{name} is one of {', '.join(allowed)}, not {value!r:.60}.")


def at_least(name: str, value: int | None, least: int) -> None:
    """Refuses a number that is too small, and anything but a number; None is allowed."""
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise Invalid(f"{name} is a whole number of at least {least}, not {value!r:.60}.")
