"""Searches have the same results on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Save, Store, user
from bough.db.postgres import fulltext

TEXTS = [
    "I like C++ a lot", "C is for cookie", "C# is another language", "run foo-bar now", "foo baz bar",
    "foo bar", 'she said "quoted" words', "it's an apostrophe", "你好世界", "世界和平", "おはようございます",
    "한국어 문장입니다", "an oak 🌳 tree", "a pine 🌲 tree", "a naïve question", "Ünïcödé ÅNGSTRÖM",
    "straße und STRASSE", "İstanbul ıssız", "col:umn value", "(paren) theses*", "a nul byte",
    "snake_case and kebab-case", "user@example.com 192.168.0.1", "Привет мир, ёлка", "Ελληνικά Σίγμας",
    "हिन्दी भाषा", "ภาษาไทย", "3.14159 and 1e100", "½ cup, ² squared, Ⅷ", "don't stop", "a" * 600,
    "tail " + "word " * 50, "e\u0301 combining", "ﬁ ligature", "ᏣᎳᎩ cherokee", "\ufeffbom first",
    "emoji 👩\u200d👩\u200d👧 family", "math ∑ ∞ ≠", "tab\tand\nnewline", "AND OR NOT NEAR", "x+y=z",
    "C++17 and C#9", "F# too",
]  # fmt: skip
QUERIES = [
    "c++", "c", "C#", "foo-bar", "foo bar", "bar foo", '"quoted"', "it's", "世界", "好世", "世", "ございます",
    "한국어", "국", "🌳", "🌲 tree", "naive", "NAÏVE", "unicode", "angstrom", "strasse", "straße", "istanbul",
    "ıssız", "col:umn", "umn", "(paren", "theses*", "snake_case", "snake", "case", "user@example.com",
    "example", "192.168", "168.192", "привет", "ПРИВЕТ", "елка", "ёлка", "ελληνικα", "σιγμας", "ΣΊΓΜΑΣ",
    "σίγμας", "हिन्दी", "भाषा", "ไทย", "3.14159", "14159", "½", "²", "Ⅷ", "stop don't", "a" * 600, "a" * 599,
    "word word", "é", "e\u0301", "ﬁ", "fi", "ᏣᎳᎩ", "bom", "👩", "∑", "tab and newline", "AND", "NOT NEAR",
    "x+y", "C++17", "17", "c#9", "f#", "_", "-", "…", "nothing-like-this", "the", "",
]  # fmt: skip
SYNTAX = [
    "oak OR pine", "oak AND tree", "tree NOT pine", "tre*", '"foo bar"', "foo + bar", "(oak OR pine) AND tree",
    "foo NOT baz", '"oak 🌳"', "wor* NOT tail", "foo bar OR oak", '"sho" *',
]  # fmt: skip


@pytest.fixture(scope="module")
def both(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    place: Path = tmp_path_factory.mktemp("searching") / "a.db"
    with bough.connect(place) as file, bough.connect(postgres, namespace=str(place)) as server:
        for store in (file, server):
            store.save_messages([Save(user(text)) for text in TEXTS])
        yield file, server


def found(store: Store, words: str, syntax: bool = False) -> list[str]:
    return [hit.node.message.text for hit in store.search(words, limit=100, syntax=syntax)]


@pytest.mark.parametrize("words", QUERIES)
def test_words_find_the_same_in_a_file_and_on_a_server(both: tuple[Store, Store], words: str) -> None:
    assert found(both[0], words) == found(both[1], words)


@pytest.mark.parametrize("query", SYNTAX)
def test_queries_find_the_same_in_a_file_and_on_a_server(both: tuple[Store, Store], query: str) -> None:
    assert found(both[0], query, syntax=True) == found(both[1], query, syntax=True)


@pytest.mark.parametrize("query", ["(", "oak OR", "AND", "oak )", "NOT oak", '"open', "a : b", "(" * 200, "*"])
def test_an_invalid_query_is_an_error_on_both(both: tuple[Store, Store], query: str) -> None:
    for store in both:
        with pytest.raises(bough.Invalid):
            store.search(query, syntax=True)


def test_a_text_of_any_length_can_be_indexed(both: tuple[Store, Store]) -> None:
    many = " ".join(f"w{number:07}ü" for number in range(60_000))
    often = "again " * 80_000
    for store in both:
        store.save_messages([Save(user(many)), Save(user(often)), Save(user("\U0001f333" * 200_000))])
    assert found(both[0], "w0000007u") == found(both[1], "w0000007u") == [many]
    assert found(both[0], "again") == found(both[1], "again") == [often]


def test_text_is_split_into_words_as_fts5_does() -> None:
    assert fulltext.words("Foo_Bar's NAÏVE  x1y2") == ["foo", "bar", "s", "naive", "x1y2"]


def test_the_operator_near_is_refused(both: tuple[Store, Store]) -> None:
    with pytest.raises(bough.Invalid, match="NEAR"):
        both[1].search("NEAR(oak tree)", syntax=True)
