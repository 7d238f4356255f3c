"""Tokenizer and query parser for PostgreSQL that match those of SQLite's FTS5, so that both engines find the same.

A word is a run of letters and digits, in lower case; Latin letters lose their accents. Queries come in the syntax of
FTS5: words and "phrases", a star after a beginning, AND, OR, NOT and parentheses.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from bough.errors import Invalid

MAX_WORD_BYTES = 2046
MAX_POSITION = 16_383
MAX_POSITIONS = 256
MAX_BYTES = 900_000
"""Limits of a tsvector: bytes of a word, its last position, positions per word, and bytes in all."""
MAX_DEPTH = 100
"""Levels of parentheses: the parser recurses, and must not reach the limit of Python."""

_ACCENTS = "[\u0300-\u036f]"
_LATIN = "[\u00c0-\u024f\u1e00-\u1eff]"
_TOKEN = r'"(?:[^"]|"")*"|["()*+^:]|[^\s"()*+^:]+'


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    if not text.isascii():
        text = re.sub(_LATIN, lambda letter: normalize("NFD", letter[0])[0], re.sub(_ACCENTS, "", text))
    # lower() keeps the final sigma, which FTS5 folds.
    return [_cut(word) for word in re.findall(r"[^\W_]+", text.lower().replace("ς", "σ"))]


def _cut(word: str) -> str:
    # A character takes at most four bytes, so that most words need not be encoded.
    return word if len(word) < MAX_WORD_BYTES // 4 else word.encode()[:MAX_WORD_BYTES].decode(errors="ignore")


def vector(text: str) -> str:
    """The tsvector of a text, as a literal."""
    places: dict[str, list[str]] = {}
    size = 0
    for place, word in enumerate(words(text), start=1):
        if word not in places:
            size += len(word.encode()) + 8
            if size > MAX_BYTES:
                break
        known = places.setdefault(word, [])
        if len(known) < MAX_POSITIONS:
            known.append(str(min(place, MAX_POSITION)))
    return " ".join(f"'{word}':{','.join(known)}" for word, known in places.items())


def query(text: str) -> str:
    """The tsquery of an FTS5 query, as a literal; empty if it has no word. Raises `Invalid`."""
    parser = _Parser(re.findall(_TOKEN, text))
    found = parser.any_of()
    if parser.rest:
        raise Invalid(f"The query {text!r:.80} cannot be understood from {parser.rest[-1]!r} on.")
    return found


class _Parser:
    """A recursive descent parser. NOT binds closest, then AND, which may be left out, then OR."""

    def __init__(self, tokens: list[str]) -> None:
        self.rest = tokens[::-1]
        self._depth = 0

    def any_of(self) -> str:
        parts = [self._all_of()]
        while self._next("OR"):
            parts.append(self._all_of())
        return _joined(parts, " | ")

    def _all_of(self) -> str:
        parts = [self._and_not()]
        while self._next("AND") or (self.rest and self.rest[-1] not in ("OR", ")")):
            parts.append(self._and_not())
        return _joined(parts, " & ")

    def _and_not(self) -> str:
        found = self._term()
        while self._next("NOT"):
            unwanted = self._term()
            found = _joined([found, f"!{unwanted}"], " & ") if found and unwanted else found
        return found

    def _term(self) -> str:
        if self._next("("):
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise Invalid("The parentheses of this query are too deep.")
            found = self.any_of()
            self._depth -= 1
            if not self._next(")"):
                raise Invalid("A parenthesis of this query is not closed.")
            return found
        return self._phrase()

    def _phrase(self) -> str:
        parts = [self._word()]
        while self._next("+"):
            parts.append(self._word())
        found = [f"'{word}'" for part in parts for word in words(part)]
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
        """Consumes the next token if it is this one; whether it was."""
        if not self.rest or self.rest[-1] != token:
            return False
        self.rest.pop()
        return True


def _joined(parts: list[str], sign: str) -> str:
    parts = [part for part in parts if part]
    return parts[0] if len(parts) == 1 else f"({sign.join(parts)})" if parts else ""
