"""Stored text made safe for a terminal, and truncated to its width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bough.cli.output.text import one_line, pad, pluralize, sanitize, truncate, width
from tests.cli.history import HOSTILE
from tests.cli.texts import ANY_TEXT, FORBIDDEN


@given(ANY_TEXT)
def test_no_text_controls_the_terminal(text: str) -> None:
    shown = sanitize(text)
    assert not FORBIDDEN - {"\n", "\t"} & set(shown)
    shown.encode()  # no lone surrogates
    assert not FORBIDDEN & set(one_line(text))


def test_unsafe_characters_are_shown_visibly() -> None:
    assert sanitize("a\x1b[31mb\u202ec\x7f\x9b") == "a␛[31mb<U+202E>c␡<U+009B>"
    assert sanitize("one\r\ntwo\tthree\n") == "one\ntwo\tthree\n"
    assert sanitize("naïve 木 👩‍👩‍👧 שלום") == "naïve 木 👩‍👩‍👧 שלום"


@given(st.text(), st.integers(1, 40))
def test_a_truncated_text_fits(text: str, room: int) -> None:
    line = one_line(text)
    assert width(truncate(line, room)) <= room
    assert width(pad(line, room)) == room


def test_no_character_is_halved() -> None:
    assert truncate("木木木木", 4) == "木…"
    assert truncate("木木", 4) == "木木"
    assert truncate("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert truncate("👩\u200d👧 x", 3) == "👩…"


def test_hostile_history_is_hostile() -> None:
    assert FORBIDDEN & set(HOSTILE)


def test_counts_have_the_right_noun() -> None:
    assert (pluralize(1, "message"), pluralize(2000, "message"), pluralize(2, "entry", "entries")) == (
        "1 message", "2,000 messages", "2 entries",
    )  # fmt: skip
