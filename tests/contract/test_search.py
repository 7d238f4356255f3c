"""Search over everything that was said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bough import Invalid, Media, Message, Save, Store, ToolResult, assistant, tool_call, tool_result, user
from tests.contract.test_sessions import talk


def found(store: Store, words: str, **filters: Any) -> list[str]:
    return [hit.node.message.text for hit in store.search(words, **filters)]


def say(store: Store, *texts: str) -> list[str]:
    return store.save_messages([Save(user(text)) for text in texts])


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("C++", ["I like C++ a lot"]),
        ("c++", ["I like C++ a lot"]),
        ("C#", ["C# is another language"]),
        ("foo-bar", ["run foo-bar now"]),
        ('"quoted"', ['she said "quoted" words']),
        ("it's", ["it's an apostrophe"]),
        ("世界", ["你好世界", "世界和平"]),
        ("好世", ["你好世界"]),
        ("ございます", ["おはようございます"]),
        ("🌳", ["an oak 🌳 tree"]),
        ("naive", ["a naïve question"]),
        ("NAÏVE", ["a naïve question"]),
        ("AND OR NOT", []),
        ("col:umn", ["col:umn value"]),
        ("(paren", ["(paren) theses*"]),
        ("theses*", ["(paren) theses*"]),
        ("^start", []),
        ("\"'`;--", []),
        ("", []),
        ("nul\0byte", ["a nul byte"]),
    ],
)
def test_signs_scripts_and_emoji_mean_themselves(store: Store, words: str, expected: list[str]) -> None:
    say(store, "I like C++ a lot", "C is for cookie", "C# is another language", "run foo-bar now", "foo baz bar",
        'she said "quoted" words', "it's an apostrophe", "你好世界", "世界和平", "おはようございます", "an oak 🌳 tree",
        "a pine 🌲 tree", "a naïve question", "col:umn value", "(paren) theses*", "a nul byte")  # fmt: skip
    assert sorted(found(store, words)) == sorted(expected)


def test_all_words_must_be_there_in_any_order(store: Store) -> None:
    say(store, "the old oak tree", "the old house", "tree of an oak, old")
    assert found(store, "old oak tree") == ["tree of an oak, old", "the old oak tree"]


def test_syntax_is_parsed_only_when_asked(store: Store) -> None:
    say(store, "an oak", "a pine", "an oak and a pine")
    assert found(store, "oak OR pine") == []
    assert set(found(store, "oak OR pine", syntax=True)) == {"an oak", "a pine", "an oak and a pine"}


@pytest.mark.parametrize("query", ["(", "oak OR", '"open', "a : b", "*"])
def test_what_is_no_query_is_said_to_be_none(store: Store, query: str) -> None:
    store.save_messages([Save(user("an oak"))])
    with pytest.raises(Invalid, match="query"):
        store.search(query, syntax=True)


def test_new_messages_are_found_at_once_and_deleted_ones_no_more(store: Store) -> None:
    (one,) = say(store, "alpha")
    assert found(store, "alpha") == ["alpha"]
    say(store, "alpha beta")
    assert found(store, "alpha") == ["alpha beta", "alpha"]
    store.delete_messages([one])
    assert found(store, "alpha") == ["alpha beta"]
    store.restore(one)
    assert found(store, "alpha") == ["alpha beta", "alpha"]


def test_tool_calls_results_thinking_and_file_names_are_found(store: Store) -> None:
    call = assistant(tool_call("c", "measure", {"what": "girth"}))
    result = tool_result("c", "four metres")
    picture = Message("tool_result", (ToolResult("d", (Media("image", "image/png", data=b"x", name="sketch.png"),)),))
    store.save_messages([Save(call), Save(result), Save(picture)])
    assert [hit.node.message for hit in store.search("girth")] == [call]
    assert [hit.node.message for hit in store.search("metres")] == [result]
    assert [hit.node.message for hit in store.search("sketch")] == [picture]


def test_filters_narrow_the_search(connect: Callable[..., Any]) -> None:
    clock = iter(range(10**15, 10**16, 1_000))
    with connect(clock=lambda: next(clock)) as store:
        one, other = store.session("cli:one"), store.session("telegram:2")
        talk(one, "apple")
        (ids,) = talk(other, "apple pie")
        store.label(ids[0], "dessert")
        moment = store.get_messages([ids[0]])[0].created_at
        assert len(store.search("apple")) == 4
        assert found(store, "apple", session="cli:one") == ["APPLE", "apple"]
        assert found(store, "apple", channel="telegram") == ["APPLE PIE", "apple pie"]
        assert found(store, "apple", role="user") == ["apple pie", "apple"]
        assert found(store, "apple", label="dessert") == ["apple pie"]
        assert found(store, "apple", since=moment) == ["APPLE PIE", "apple pie"]
        assert found(store, "apple", until=moment) == ["APPLE", "apple"]
        assert found(store, "apple", limit=1, offset=1) == ["apple pie"]


def test_a_session_finds_what_it_shares_with_the_one_it_was_forked_from(store: Store) -> None:
    session = store.session("s")
    talk(session, "apple", "pear")
    fork = session.fork(at=session.path()[1].id)
    assert found(store, "apple", session=fork.key) == ["APPLE", "apple"]
    assert found(store, "pear", session=fork.key) == []


def test_the_session_of_a_hit_is_the_session_that_finds_it(store: Store) -> None:
    session = store.session("s")
    talk(session, "apple", "pear")
    fork = session.fork(at=session.path()[1].id)
    session.rewind(turns=2)
    talk(fork, "apple cake")
    for hit in store.search("apple") + store.search("pear"):
        assert hit.session is not None
        assert hit.node.id in {same.node.id for same in store.search("apple", session=hit.session)} | {
            same.node.id for same in store.search("pear", session=hit.session)
        }
    assert {hit.session for hit in store.search("apple", session=fork.key)} == {fork.key}
    assert found(store, "apple", session="s") == ["APPLE", "apple"]  # what it left is its own still


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Needle", "nEEDLE"),
        ("needle", "haystack needle"),
        ("İİİ NEEDLE", "needle"),  # a capital that becomes two letters
        ("ΟΔΟΣ", "οδοσ"),  # a letter with two small forms
        ("C++", "c++"),
    ],
)
def test_a_snippet_shows_the_word_in_whatever_case(store: Store, said: str, asked: str) -> None:
    store.save_messages([Save(user(f"{'straw ' * 200}haystack{' straw' * 200} {said} {'straw ' * 200}"))])
    (hit,) = store.search(asked)
    assert (said in hit.snippet) is ("haystack" not in asked)
    assert ("haystack" in hit.snippet) is ("haystack" in asked)


def test_a_hit_has_a_snippet_a_session_and_on_demand_a_path(store: Store) -> None:
    session = store.session("s")
    (ids,) = talk(session, "x")
    (reply,) = session.save_turn([assistant("word " * 200 + "needle " + "word " * 200)])
    (hit,) = store.search("needle", paths=True)
    assert "needle" in hit.snippet
    assert hit.snippet.startswith("…")
    assert hit.snippet.endswith("…")
    assert len(hit.snippet) < 200
    assert hit.session == "s"
    assert hit.path == (*ids, reply)
    assert store.search("needle")[0].path == ()


def test_the_best_match_can_come_first(store: Store) -> None:
    say(store, "oak oak oak oak", "oak and many other words that say nothing of trees at all, only once")
    assert found(store, "oak", order="best")[0] == "oak oak oak oak"


def is_indexed(store: Any) -> bool:
    store = getattr(store, "_facade", store)
    indexed, _, newest = getattr(store, "sync", store).db.row("search_state")
    return bool(indexed == newest)


def test_saving_does_not_index(store: Store) -> None:
    say(store, "alpha")
    store.search("alpha")
    say(store, "beta")
    assert not is_indexed(store)
    assert found(store, "beta") == ["beta"]
    assert is_indexed(store)


def test_only_the_beginning_of_a_huge_text_is_indexed_and_all_of_it_is_kept(store: Store) -> None:
    text = "first " + "filler " * 100_000 + "last"
    say(store, text)
    assert found(store, "first") == [text]
    assert found(store, "last") == []


def test_what_is_deleted_is_out_of_the_index_and_back_once_when_it_is_restored(store: Store) -> None:
    ids = store.save_messages([Save(user("alder birch")), Save(user("birch cedar")), Save(user(""))])
    assert len(found(store, "birch")) == 2
    store.delete_messages(ids[:1])
    assert found(store, "alder") == []
    assert found(store, "birch") == ["birch cedar"]
    store.restore(ids[0])
    assert is_indexed(store)  # there and then: the index is not built again
    assert found(store, "birch") == ["birch cedar", "alder birch"]
    store.delete_messages(ids)
    store.restore(ids[1])
    assert found(store, "birch") == ["birch cedar", "alder birch"]
    store.delete_messages(ids, keep=False)
    assert found(store, "birch") == []
    say(store, "birch again")
    assert found(store, "birch") == ["birch again"]


def test_what_is_deleted_before_it_was_indexed_leaves_no_trace(store: Store) -> None:
    say(store, "alder")
    assert found(store, "alder") == ["alder"]
    ids = store.save_messages([Save(user("birch")), Save(user("cedar"))])
    store.delete_messages(ids[:1])
    assert found(store, "birch") == []
    store.restore(ids[0])
    assert found(store, "birch") == ["birch"]
    assert found(store, "alder") == ["alder"]
