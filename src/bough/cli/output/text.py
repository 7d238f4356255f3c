"""Stored text for a terminal: sanitized, measured in cells, and truncated."""

from __future__ import annotations

import re
import unicodedata

from bough.model.markup import without_markup

# Characters that move the cursor, change the terminal or reorder text: control characters, escapes, bidirectional
# controls, line separators, tags, interlinear annotations and lone surrogates. Newlines and tabs are safe.
UNSAFE = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def sanitize(text: str) -> str:
    """The text with every character that a terminal would interpret replaced by a visible one."""
    return text if text.isascii() and text.isprintable() else re.sub(UNSAFE, _visible, text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """The text on one line, sanitized."""
    return sanitize(" ".join(text.split()))


def plain_line(text: str) -> str:
    """The text on one line without Markdown, for lists."""
    return one_line(without_markup(text))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


def width(text: str) -> int:
    """The number of terminal cells that a text takes."""
    return len(text) if text.isascii() else sum(map(char_width, text))


def char_width(character: str) -> int:
    """The number of terminal cells that a character takes: 0, 1 or 2."""
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def truncate(text: str, room: int) -> str:
    """The text in at most `room` cells, with an ellipsis if shortened; never half of a character."""
    if width(text) <= room:
        return text
    taken, used = 0, 1
    for character in text:
        used += char_width(character)
        if used > room:
            break
        taken += 1
    while taken and text[taken - 1] == "\u200d":  # a zero-width joiner with nothing after it
        taken -= 1
    return text[:taken].rstrip() + "…"


def pad(text: str, room: int) -> str:
    """The text in exactly `room` cells, truncated or padded."""
    shown = truncate(text, room)
    return shown + " " * (room - width(shown))


def pluralize(number: int, noun: str, plural: str = "") -> str:
    """A count with its noun: `1 message`, `2 messages`, `3 entries`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
