"""Text, made harmless and cut by what the eye sees; times, for people and for programs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.cli.commands.stats import bar
from bough.cli.output.console import json_text
from bough.cli.output.text import counted, cut, harmless, one_line, pad, width
from bough.cli.output.times import ago, iso, moment, span
from bough.errors import Invalid
from tests.cli.history import HOSTILE

FORBIDDEN = {
    *map(chr, range(32)),
    *map(chr, range(0x7F, 0xA0)),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202d\u202e\u2066\u2069",
}
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@given(ANY_TEXT)
def test_no_text_can_say_anything_to_a_terminal(text: str) -> None:
    shown = harmless(text)
    assert not FORBIDDEN - {"\n", "\t"} & set(shown)
    shown.encode()  # no lone surrogates
    assert not FORBIDDEN & set(one_line(text))


def test_what_is_hidden_can_still_be_seen() -> None:
    assert harmless("a\x1b[31mb\u202ec\x7f\x9b") == "a␛[31mb<U+202E>c␡<U+009B>"
    assert harmless("one\r\ntwo\tthree\n") == "one\ntwo\tthree\n"
    assert harmless("naïve 木 👩‍👩‍👧 שלום") == "naïve 木 👩‍👩‍👧 שלום"


@given(st.text(), st.integers(1, 40))
def test_a_cut_text_fits(text: str, room: int) -> None:
    line = one_line(text)
    assert width(cut(line, room)) <= room
    assert width(pad(line, room)) == room


def test_a_cut_never_halves_a_character() -> None:
    assert cut("木木木木", 4) == "木…"
    assert cut("木木", 4) == "木木"
    assert cut("e\u0301e\u0301e\u0301", 2) == "e\u0301…"
    assert cut("👩\u200d👧 x", 3) == "👩…"


@settings(max_examples=30)
@given(
    st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner))
)
def test_json_on_a_terminal_is_harmless_and_the_same(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert not FORBIDDEN & set(text)
    text.encode()


def test_hostile_history_is_hostile() -> None:
    assert FORBIDDEN & set(HOSTILE)


@pytest.mark.parametrize(
    ("passed", "said"),
    [(0, "just now"), (59, "just now"), (60, "1m ago"), (3 * 3600 + 5, "3h ago"), (86_400, "1d ago"),
     (15 * 86_400, "2w ago"),
     (70 * 86_400, "2mo ago"), (800 * 86_400, "2y ago"), (-500, "just now")],
)  # fmt: skip
def test_moments_are_relative_for_people(passed: int, said: str) -> None:
    assert ago(1_000_000_000_000_000, now=1_000_000_000 + passed) == said


def test_moments_and_spans_are_read() -> None:
    assert iso(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"
    assert iso(None) is None
    assert (span("30d"), span("12h"), span("2w"), span("90m"), span("3"), span("0.5h")) == (
        2_592_000, 43_200, 1_209_600, 5400, 259_200, 1800,
    )  # fmt: skip
    assert moment("7d", now=1_000_000_000) == (1_000_000_000 - 604_800) * 1_000_000
    assert moment("2023-11-14T22:13:20+00:00") == 1_700_000_000_000_000
    for wrong in ("", "soon", "-3d", "3 parsecs", "2023-13-45"):
        with pytest.raises(Invalid):
            moment(wrong)


def test_bars_grow_by_eighths() -> None:
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4) == "██  "
    assert bar(0.0, 4) == "    "
    assert bar(0.00001, 4) == "▏   "


def test_things_are_counted_in_words() -> None:
    assert (counted(1, "message"), counted(2000, "message"), counted(2, "entry", "entries")) == (
        "1 message", "2,000 messages", "2 entries",
    )  # fmt: skip
