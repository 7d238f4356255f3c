"""Texts are split into messages that a service accepts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.channels.split import CLOSING_ROOM, open_fence, split, utf16_units

MARKDOWN = st.lists(
    st.sampled_from(
        ["word ", "A sentence. ", "\n", "\n\n", "```python\n", "\n```\n", "| a | b |\n", "😀", "x" * 50, "~~~\n"]
    )
).map("".join)


@given(MARKDOWN, st.sampled_from([40, 100, 200]))
def test_no_part_is_too_long_and_every_fence_is_closed(text: str, limit: int) -> None:
    parts = split(text, limit, utf16_units)
    assert all(utf16_units(part) <= limit for part in parts)
    assert all(open_fence(part) is None for part in parts[:-1])


@given(MARKDOWN, st.sampled_from([40, 100, 200]))
def test_no_character_is_lost(text: str, limit: int) -> None:
    def essence(one: str) -> str:
        return "".join(character for character in one if character not in "`~\n python")

    assert essence("".join(split(text, limit))) == essence(text)


@given(MARKDOWN, MARKDOWN)
def test_full_parts_do_not_change_when_the_text_grows(text: str, more: str) -> None:
    before, after = split(text, 80), split(text + more, 80)
    assert after[: len(before) - 1] == before[:-1]


LONG = "x" * 22

CUTS = [
    (f"{LONG}\n\nb\nc. d {LONG}", [LONG, f"b\nc. d {LONG}"]),
    (f"{LONG}\nb. c {LONG}", [LONG, f"b. c {LONG}"]),
    (f"{LONG}. b {LONG}", [f"{LONG}. ", f"b {LONG}"]),
    (f"{LONG} {LONG}", [f"{LONG} ", LONG]),
    (LONG * 2, ["x" * 32, "x" * 12]),
]


@pytest.mark.parametrize(("text", "parts"), CUTS)
def test_a_text_is_cut_at_a_paragraph_then_a_line_a_sentence_a_word(text: str, parts: list[str]) -> None:
    assert split(text, 32 + CLOSING_ROOM) == parts


def test_a_table_is_cut_before_its_rows() -> None:
    table = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    assert split("Some words that come before the table.\n" + table, 62) == [
        "Some words that come before the table.",
        table,
    ]


@pytest.mark.parametrize("text", ["", "   ", "short"])
def test_a_short_text_is_one_part(text: str) -> None:
    assert split(text, 40) == [text]
