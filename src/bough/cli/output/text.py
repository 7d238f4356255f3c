"""Stored text, made harmless for a terminal, and cut by what the eye sees."""

from __future__ import annotations

import re
import unicodedata

# What could move the cursor, change the terminal or turn text around: control characters, escapes, marks of direction,
# separators of lines, tags, interlinear marks and lone surrogates. New lines and tabs stay.
HOSTILE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def sanitize(text: str) -> str:
    """The text with everything that a terminal could obey turned into something that can be seen."""
    return text if text.isascii() and text.isprintable() else re.sub(HOSTILE, _picture, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line, harmless."""
    return sanitize(" ".join(text.split()))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(cells, text))


def cells(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, room: int) -> str:
    """The text, or as much of it as fits with an ellipsis; never half of a character."""
    if width(text) <= room:
        return text
    taken, used = 0, 1
    for character in text:
        used += cells(character)
        if used > room:
            break
        taken += 1
    while taken and text[taken - 1] == "\u200d":  # a joiner with nothing to join
        taken -= 1
    return text[:taken].rstrip() + "…"


def pad(text: str, room: int) -> str:
    """The text, cut or filled up to this many cells."""
    shown = truncate(text, room)
    return shown + " " * (room - width(shown))


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """`1 message`, `2 messages`, `3 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
