"""The query language of search boxes."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bough import Invalid, Query, Term, parse_query

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("C++ foo-bar", (Term("C++"), Term("foo-bar"))),
        ('"old oak" tree', (Term("old oak", "phrase"), Term("tree"))),
        ('"never closed', (Term("never closed", "phrase"),)),
        ("oak -pine", (Term("oak"), Term("pine", excluded=True))),
        ('oak -"pine tree"', (Term("oak"), Term("pine tree", "phrase", True))),
        ("tre* -bir*", (Term("tre", "beginning"), Term("bir", "beginning", True))),
        ("* - -- --flag", (Term("*"), Term("-"), Term("--"), Term("--flag"))),
        ("https://example.org std::vector 12:30", (Term("https://example.org"), Term("std::vector"), Term("12:30"))),
        ("a:  :b", (Term("a:"), Term(":b"))),
        ("", ()),
    ],
)
def test_words_phrases_beginnings_and_exclusions(text: str, terms: tuple[Term, ...]) -> None:
    assert parse_query(text) == Query(terms)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("role:user", Query(role="user")),
        ("ROLE:User", Query(role="user")),
        ("role:tool", Query(role="tool_result")),
        ("model:claude*", Query(model="claude*")),
        ("source:codex", Query(channel="codex")),
        ("in:cli:work", Query(session="cli:work")),
        ("project:garden", Query(directory="garden")),
        ("project:/home/me", Query(directory="/home/me")),
        ("tool:bash", Query(tool="bash")),
        ('label:"two words"', Query(label="two words")),
        ("has:image has:error has:image", Query(has=("image", "error"))),
        ("is:open", Query(status="running")),
        ("is:failed", Query(status="failed")),
        ("after:7d", Query(since=int((NOW - 7 * 86_400) * 1_000_000))),
        ("before:2023-11-14T22:13:20+00:00", Query(until=1_700_000_000_000_000)),
        ("cost:>=1", Query(min_cost=1.0)),
        ("cost:<$0.5", Query(max_cost=math.nextafter(0.5, -math.inf))),
        ("cost:2", Query(min_cost=2.0, max_cost=2.0)),
    ],
)
def test_operators(text: str, query: Query) -> None:
    assert parse_query(text, NOW) == query
    assert parse_query(f"oak {text} tree", NOW).terms == (Term("oak"), Term("tree"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("col:umn", "there is no operator col:, only role, model"),
        ("role:robot", "'robot' is none of user, assistant"),
        ("is:trash", "'trash' is none of running"),
        ("before:yesteryear", "'yesteryear' is not a time"),
        ("cost:much", "a cost is written as cost:>1"),
        ("-role:user", "only words can be excluded"),
    ],
)
def test_an_unknown_operator_is_a_word_and_said_so(text: str, reason: str) -> None:
    query = parse_query(f"oak {text}")
    assert query.terms == (Term("oak"), Term(text))
    (note,) = query.notes
    assert note.startswith(f"{text} was searched as words: ")
    assert reason in note


def test_a_year_and_a_month_are_times() -> None:
    assert parse_query("after:2024").since == parse_query("after:2024-01-01").since
    assert parse_query("after:2024-05").since == parse_query("after:2024-05-01").since


def test_a_query_refuses_values_that_it_cannot_have() -> None:
    for wrong in ({"role": "robot"}, {"status": "done"}, {"has": ("x",)}, {"min_cost": math.nan}, {"max_cost": "1"}):
        with pytest.raises(Invalid):
            Query(**wrong)


@given(
    st.text()
    | st.lists(st.sampled_from(["oak", '"', "-", "*", "role:", "cost:>", "after:", ":", " ", "9"])).map("".join)
)
def test_any_text_is_a_query_that_looks_for_every_word(text: str) -> None:
    query = parse_query(text)
    assert all(term.text or term.kind == "phrase" for term in query.terms)
    if not query.terms:
        assert not text.replace('"', "").split() or query != Query()
