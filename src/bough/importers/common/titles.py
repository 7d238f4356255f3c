"""A title for a conversation that has none."""

from __future__ import annotations

LONGEST = 80


def shortened(words: str) -> str | None:
    """The first line of a text, cut to the length of a title; None when it says nothing."""
    first = words.strip().partition("\n")[0].strip()
    return (first[: LONGEST - 1] + "…" if len(first) > LONGEST else first) or None
