"""Split Markdown into messages that a service accepts, without breaking code fences, tables or words.

A part depends only on the text before its end. So while an answer is streamed, the parts that are full do not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
CLOSING_ROOM = 8
"""Characters kept free to close a fence."""


def utf16_units(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text) + sum(character > "\uffff" for character in text)


def split(text: str, limit: int, measure: Callable[[str], int] = len) -> list[str]:
    """The parts of a text, none longer than the limit. A fence that is cut is closed, and opened again."""
    parts, rest, opening = [], text, ""
    while measure(opening + rest) > limit:
        end = cut(opening, rest, limit - CLOSING_ROOM, measure)
        part, rest = opening + rest[:end].rstrip("\n"), rest[end:].removeprefix("\n")
        fence = open_fence(part)
        parts.append(part if fence is None else f"{part}\n{fence[0]}")
        opening = "" if fence is None else f"{fence[0]}{fence[1][: limit // 4]}\n"
    return [*parts, opening + rest] if rest.strip() or not parts else parts


def open_fence(text: str) -> tuple[str, str] | None:
    """The fence that is open at the end of a text: its marks and its language."""
    found: tuple[str, str] | None = None
    for line in text.splitlines():
        match = FENCE.fullmatch(line)
        if match is None:
            continue
        marks, info = match.groups()
        if found is None:
            found = (marks, info)
        elif marks[0] == found[0][0] and len(marks) >= len(found[0]) and not info.strip():
            found = None
    return found


def cut(opening: str, rest: str, limit: int, measure: Callable[[str], int]) -> int:
    """Where to end a part: at a paragraph, a line, a sentence or a word in its second half, else anywhere."""
    longest = fitting(opening, rest, limit, measure)
    for end in boundaries(opening, rest, longest):
        if end > longest // 2:
            return end
    return longest


def fitting(opening: str, rest: str, limit: int, measure: Callable[[str], int]) -> int:
    """The number of characters of the rest that fit; at least one."""
    low, high = 1, len(rest)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(opening + rest[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return low


def boundaries(opening: str, rest: str, longest: int) -> Iterator[int]:
    """Ends of paragraphs outside fences, then lines outside tables, lines, sentences and words; the last of each."""
    window = rest[:longest]
    paragraphs = [match.end() for match in re.finditer(r"\n\n+", window)]
    yield next((end for end in reversed(paragraphs) if open_fence(opening + window[:end]) is None), 0)
    lines = [match.end() for match in re.finditer(r"\n", window)]
    yield next((end for end in reversed(lines) if not is_in_table(rest, end)), 0)
    yield lines[-1] if lines else 0
    yield last_end(r"[.!?] ", window)
    yield last_end(r"\s", window)


def is_in_table(text: str, end: int) -> bool:
    """Whether a line of a table ends here, and another one begins."""
    before = text.rfind("\n", 0, end - 1) + 1
    return text.startswith("|", before) and text.startswith("|", end)


def last_end(pattern: str, window: str) -> int:
    return max((match.end() for match in re.finditer(pattern, window)), default=0)
