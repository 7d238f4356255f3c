"""Streamed Markdown: independent of how the input is split, faithful, and safe for a terminal."""

from __future__ import annotations

import re

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough.cli.output.console import without_escapes
from bough.cli.output.highlight import CONTEXT, CodeHighlighter
from bough.cli.output.markdown import MarkdownRenderer

ANSI = re.compile(r"\x1b\[(?:1|22|3|23|36|39|2|4|24)m")


def rendered(*pieces: str, columns: int = 60) -> str:
    markdown = MarkdownRenderer(columns)
    return "".join(markdown.feed(piece) for piece in pieces) + markdown.end()


def screen(text: str, columns: int = 60) -> pyte.Screen:
    shown = pyte.Screen(columns, 40)
    pyte.Stream(shown).feed(text.replace("\n", "\r\n"))
    return shown


CASES = [
    ("plain words", "plain words"),
    ("# A **title**", "\x1b[1mA title\x1b[22m"),
    ("**bold** and *italic* and `code`", "\x1b[1mbold\x1b[22m and \x1b[3mitalic\x1b[23m and \x1b[36mcode\x1b[39m"),
    ("**a `b` c**", "\x1b[1ma \x1b[36mb\x1b[39m c\x1b[22m"),
    ("2*3*4, 2 * 3, *args, **kwargs", "2*3*4, 2 * 3, *args, **kwargs"),
    ("`unclosed", "`unclosed"),
    ("__init__ and snake_case_name", "__init__ and snake_case_name"),
    ("- one\n  * two\n+ three", "• one\n  • two\n• three"),
    ("1. first\n2) second", "1. first\n2) second"),
    ("> said", "\x1b[2m│ \x1b[22msaid"),
    ("```\n**x** `y`\n```", "\x1b[36m**x** `y`\x1b[39m"),
    ("```nonsense\nx\n~~~\n```", "\x1b[36mx\x1b[39m\n\x1b[36m~~~\x1b[39m"),
    ("[a](https://x.org/b_(c)) [d] e[0]", "\x1b]8;;https://x.org/b_(c)\x1b\\\x1b[4ma\x1b[24m\x1b]8;;\x1b\\ [d] e[0]"),
    ("[bad](javascript:alert)", "[bad](javascript:alert)"),
    ("---", "\x1b[2m" + "─" * 40 + "\x1b[22m"),
    ("| a | *b* |", "| a | *b* |"),
    ("-5 degrees and #hashtag", "-5 degrees and #hashtag"),
]


@pytest.mark.parametrize(("text", "shown"), CASES, ids=[text[:20] for text, _ in CASES])
def test_what_is_written(text: str, shown: str) -> None:
    assert rendered(text) == shown + "\n"


def test_lines_break_between_words_and_items_hang() -> None:
    assert rendered("- " + "word " * 9, columns=20) == "• word word word\n  word word word\n  word word word\n"


def test_words_appear_before_the_line_is_over() -> None:
    markdown = MarkdownRenderer(60)
    assert markdown.feed("The quick brown f") == "The quick brown"
    assert markdown.feed("ox") == ""
    assert markdown.feed(" jumps") == " fox"


@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "](http://a)",
                "|-|\n",
                "*",
                "**",
                "`",
                "```",
                "\n",
                " ",
                "a",
                "word",
                "# ",
                "- ",
                "> ",
                "|",
                "~~~",
                "1. ",
            ]
        )
    ),
    st.integers(1, 5),
)
def test_the_pieces_do_not_matter_and_no_word_is_lost(parts: list[str], size: int) -> None:
    text = "".join(parts)
    whole = rendered(text)
    assert rendered(*(text[at : at + size] for at in range(0, len(text), size))) == whole
    if "```" in text or "~~~" in text:  # the name of a language is not shown
        return
    letters = re.sub(r"[^a-z]", "", text).replace("httpa", "")
    assert re.sub(r"[^a-z]", "", without_escapes(whole)).replace("httpa", "") == letters


@given(st.text(st.characters(categories=["Cc", "Cf", "Cs", "L"]), max_size=80))
def test_nothing_hostile_gets_through(text: str) -> None:
    shown = ANSI.sub("", rendered(text))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)


def test_a_new_line_of_two_characters_is_one_even_in_two_pieces() -> None:
    assert rendered("a\r", "\nb\r\nc") == "a\nb\nc\n"


def test_an_escape_is_seen_and_not_obeyed() -> None:
    shown = screen(rendered("before\x1b[2J\x1b]0;title\x07 **after**"))
    assert shown.display[0].rstrip() == "before␛[2J␛]0;title␇ after"
    assert shown.title == ""


def test_code_is_highlighted_line_by_line_and_strings_go_on() -> None:
    markdown = MarkdownRenderer(60)
    assert markdown.feed("```python\nreturn 1\n") == "\x1b[35mreturn\x1b[39m \x1b[36m1\x1b[39m\n"
    assert markdown.feed('x = """a\n') == 'x = \x1b[32m"""\x1b[39m\x1b[32ma\x1b[39m\n'
    assert markdown.feed("def b\n") == "\x1b[32mdef b\x1b[39m\n"
    assert markdown.feed("``") == ""
    assert markdown.feed("`\nafter ") == "after"


def test_a_long_block_of_code_takes_no_longer_for_each_line() -> None:
    code = CodeHighlighter("python")
    for number in range(300):
        code.line(f"x{number} = 1")
    assert len(code._before) == CONTEXT


TABLE = """\
| Tree | Girth | Why |
|:-----|------:|-----|
| `oak` | 12 | it grows **slowly** and for a very long time |
| a\\|b | 3 | |
after"""


def test_a_table_is_drawn_when_it_is_complete() -> None:
    markdown = MarkdownRenderer(40)
    head, _, rest = TABLE.rpartition("\n")
    assert markdown.feed(f"{head}\n") == ""
    lines = without_escapes(markdown.feed(rest) + markdown.end()).splitlines()
    assert lines == [
        "Tree │ Girth │ Why",
        "─────┼───────┼" + "─" * 26,
        "oak  │    12 │ it grows slowly and for a",
        "     │       │ very long time",
        "a|b  │     3 │ ",
        "after",
    ]
    assert all(len(line) <= 40 for line in lines)


def test_a_table_without_room_is_a_list_of_its_cells() -> None:
    lines = without_escapes(rendered(TABLE, columns=20)).splitlines()
    assert lines[:3] == ["Tree: oak", "Girth: 12", "Why: it grows slowly"]
    assert "| no | table |" in rendered("| no | table |\n| at | all |", columns=20)
