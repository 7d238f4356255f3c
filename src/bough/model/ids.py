"""Message ids: short and random, for people to type."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable

from bough.errors import Invalid

ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
LENGTH = 6
SHARED_PREFIX = 2
GROUP = 16
"""Ids minted in one call share their first two characters in groups of this size: one index page then takes a group."""
SHORTEST_PREFIX = 4
"""Shorter words are not tried as a prefix of an id."""
_DIGITS = bytes(ord(ALPHABET[byte % 36]) for byte in range(256))
_UNEVEN = bytes(range(252, 256))
"""Bytes that are dropped: 256 is no multiple of 36, so they would make some digits likelier."""
AFTER_ALL = "\U0010ffff"
"""Sorts after every character of an id."""


def mint(length: int = LENGTH) -> str:
    """A random id."""
    return mint_many(1, length)[0]


def mint_many(count: int, length: int) -> list[str]:
    """Random ids for messages that are saved together."""
    wanted, drawn = count * length, b""
    while len(drawn) < wanted:
        drawn += os.urandom(wanted - len(drawn) + 2).translate(_DIGITS, _UNEVEN)
    text, group = drawn.decode(), GROUP * length
    return [
        text[start - start % group :][:SHARED_PREFIX] + text[start + SHARED_PREFIX : start + length]
        for start in range(0, wanted, length)
    ]


def mint_free(count: int, taken: Callable[[list[str]], Collection[str]]) -> list[str]:
    """`count` distinct ids that are not taken.

    After every second collision the ids get one character longer, because the ids of this length are running out.
    """
    found: dict[str, None] = {}
    length, collisions = LENGTH, 0
    while len(found) < count:
        fresh = list(dict.fromkeys(mint_many(count - len(found), length)))
        used = taken(fresh)
        kept = [candidate for candidate in fresh if candidate not in used and candidate not in found]
        found.update(dict.fromkeys(kept))
        if len(kept) < len(fresh):
            collisions += 1
            if collisions % 2 == 0:
                length += 1
    return list(found)


def check_id(id: str) -> str:
    """Return the id if it could be one; raise `Invalid` otherwise."""
    if not isinstance(id, str) or not is_plain(id):
        raise Invalid(f"An id is a plain text, not {id!r:.60}.")
    return id


def is_id(text: str) -> bool:
    """Whether a text has the form of a minted id."""
    return LENGTH <= len(text) <= 2 * LENGTH and not text.strip(ALPHABET)


def is_plain(text: str) -> bool:
    """Whether every database can store this text unchanged: no NUL and no lone surrogate."""
    if text.isascii():
        return "\0" not in text
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def names(items: Iterable[str], most: int = 3) -> str:
    """A few ids for an error message."""
    listed = [repr(item) for item in items]
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest} more" if rest > 0 else "")
