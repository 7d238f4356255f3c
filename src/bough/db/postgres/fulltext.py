"""Words as PostgreSQL indexes them, found as SQLite's tokenizer finds them, so that both find the same.

A word is a run of letters and digits, in lower case, Latin ones without their accents. Queries come in the syntax of
FTS5: words and "phrases", a star after a beginning, AND, OR, NOT and parentheses.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from bough.errors import Invalid

LONGEST_WORD = 2046
LAST_PLACE = 16_383
MOST_PLACES = 256
LARGEST = 900_000
"""What a tsvector holds: words of so many bytes, up to this place, so many times, and so many bytes in all."""
DEEPEST = 100

_ACCENTS = "[\u0300-\u036f]"
_LATIN = "[\u00c0-\u024f\u1e00-\u1eff]"
_TOKEN = r'"(?:[^"]|"")*"|["()*+^:]|[^\s"()*+^:]+'


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    if not text.isascii():
        text = re.sub(_LATIN, lambda letter: normalize("NFD", letter[0])[0], re.sub(_ACCENTS, "", text))
    return [_cut(word) for word in re.findall(r"[^\W_]+", text.lower().replace("ς", "σ"))]


def _cut(word: str) -> str:
    return word if len(word) < LONGEST_WORD // 4 else word.encode()[:LONGEST_WORD].decode(errors="ignore")


def vector(text: str) -> str:
    """A text as a tsvector is written."""
    places: dict[str, list[str]] = {}
    size = 0
    for place, word in enumerate(words(text), start=1):
        if word not in places:
            size += len(word.encode()) + 8
            if size > LARGEST:
                break
        known = places.setdefault(word, [])
        if len(known) < MOST_PLACES:
            known.append(str(min(place, LAST_PLACE)))
    return " ".join(f"'{word}':{','.join(known)}" for word, known in places.items())


def query(text: str) -> str:
    """A query as a tsquery is written; empty if it has no word. Raises `Invalid` for what is not a query."""
    reader = _Reader(re.findall(_TOKEN, text))
    found = reader.either()
    if reader.rest:
        raise Invalid(f"The query {text!r:.80} cannot be understood from {reader.rest[-1]!r} on.")
    return found


class _Reader:
    """Reads a query from left to right. NOT binds closest, then AND, which need not be said, then OR."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]
        self._depth = 0

    def either(self) -> str:
        parts = [self._all()]
        while self._next("OR"):
            parts.append(self._all())
        return _joined(parts, " | ")

    def _all(self) -> str:
        parts = [self._but_not()]
        while self._next("AND") or (self.rest and self.rest[-1] not in ("OR", ")")):
            parts.append(self._but_not())
        return _joined(parts, " & ")

    def _but_not(self) -> str:
        found = self._one()
        while self._next("NOT"):
            unwanted = self._one()
            found = _joined([found, f"!{unwanted}"], " & ") if found and unwanted else found
        return found

    def _one(self) -> str:
        if self._next("("):
            self._depth += 1
            if self._depth > DEEPEST:
                raise Invalid("The parentheses of this query are too deep.")
            found = self.either()
            self._depth -= 1
            if not self._next(")"):
                raise Invalid("A parenthesis of this query is not closed.")
            return found
        return self._phrase()

    def _phrase(self) -> str:
        said = [self._word()]
        while self._next("+"):
            said.append(self._word())
        found = [f"'{word}'" for part in said for word in words(part)]
        if self._next("*") and found:
            found[-1] += ":*"
        return _joined(found, " <-> ")

    def _word(self) -> str:
        if not self.rest or self.rest[-1] in (*'"()*+^:', "AND", "OR", "NOT"):
            raise Invalid(f"A word is missing in this query{f' before {self.rest[-1]!r}' if self.rest else ''}.")
        if self.rest[-2:] == ["(", "NEAR"]:
            raise Invalid("NEAR is not understood on PostgreSQL; nothing was searched.")
        return self.rest.pop()

    def _next(self, token: str) -> bool:
        """Whether this comes next; then it is taken."""
        if not self.rest or self.rest[-1] != token:
            return False
        self.rest.pop()
        return True


def _joined(parts: list[str], sign: str) -> str:
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else f"({sign.join(parts)})" if parts else ""
