"""Titles for conversations that have none."""

from __future__ import annotations

LONGEST = 80


def shortened(text: str) -> str | None:
    """The first line of a text, cut to the length of a title; None if it is blank."""
    first = text.strip().partition("\n")[0].strip()
    return (first[: LONGEST - 1] + "…" if len(first) > LONGEST else first) or None
