"""Filters, pages and the fallback of a search, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from bough import (
    Hits,
    Invalid,
    Media,
    Message,
    Query,
    Save,
    Store,
    assistant,
    parse_query,
    tool_call,
    tool_result,
    user,
)
from bough.model import Usage
from bough.storage import search_query


def texts(hits: Hits) -> list[str]:
    return [hit.node.message.text for hit in hits]


def listed(store: Store, **filters: Any) -> list[str]:
    return texts(store.search(**filters))


@pytest.fixture
def filled(store: Store) -> Store:
    garden = store.session("cli:garden", directory="/home/me/garden")
    garden.save_turn([user("oak"), assistant("tall")], model="claude-opus-4", usage=Usage(cost=2.0))
    call, result = assistant(tool_call("c", "Bash", {"command": "tape"})), tool_result("c", "no tape", error=True)
    garden.save_turn([user("measure it"), call, result, assistant("no luck")], model="gpt-5", usage=Usage(cost=0.1))
    phone = store.session("telegram:7", directory="/home/me/gardening/beds")
    picture = Media("image", "image/png", data=b"png", name="leaf.png")
    phone.save_turn([Message("user", (picture,)), assistant("an oak leaf")], model="gpt-5-mini")
    with phone.turn(user("and this?")) as turn:
        turn.fail("no connection")
    return store


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"role": "user", "session": "cli:garden"}, ["measure it", "oak"]),
        ({"channel": "telegram"}, ["and this?", "an oak leaf", ""]),
        ({"model": "gpt-5"}, ["no luck", ""]),
        ({"model": "GPT-5*"}, ["an oak leaf", "no luck", ""]),
        ({"model": "gpt_5"}, []),
        ({"tool": "bash"}, [""]),
        ({"tool": "b*"}, [""]),
        ({"directory": "/home/me/garden"}, ["no luck", "", "", "measure it", "tall", "oak"]),
        ({"directory": "/home/me/"}, ["and this?", "an oak leaf", "", "no luck", "", "", "measure it", "tall", "oak"]),
        ({"directory": "/home/me/gard"}, []),
        ({"directory": "beds"}, ["and this?", "an oak leaf", ""]),
        ({"directory": "me", "role": "user", "has": "image"}, [""]),
        ({"has": "image"}, [""]),
        ({"has": "file"}, [""]),
        ({"has": ("tool",)}, [""]),
        ({"has": "error"}, [""]),
        ({"has": ("error", "image")}, []),
        ({"status": "failed"}, ["and this?"]),
        ({"min_cost": 1}, ["tall", "oak"]),
        ({"max_cost": 1.0}, ["no luck", "", "", "measure it"]),
        ({"min_cost": 0.05, "max_cost": 0.5, "role": "user"}, ["measure it"]),
    ],
)
def test_each_filter_lists_messages_without_words(filled: Store, filters: dict[str, Any], expected: list[str]) -> None:
    assert listed(filled, **filters) == expected


def test_filters_and_words_hold_together(filled: Store) -> None:
    assert texts(filled.search("oak")) == ["an oak leaf", "oak"]
    assert texts(filled.search("oak", model="gpt*")) == ["an oak leaf"]
    assert texts(filled.search("oak", min_cost=1, order="best")) == ["oak"]
    assert texts(filled.search("oak", status="failed")) == []


def test_a_message_with_several_answers_has_a_branch(store: Store) -> None:
    (question,) = store.save_messages([Save(user("which?"))])
    assert listed(store, has="branch") == []
    store.save_messages([Save(assistant("one"), question), Save(assistant("two"), question)])
    assert listed(store, has="branch") == ["which?"]


def test_what_a_person_types_is_searched(filled: Store) -> None:
    def typed(text: str, **more: Any) -> list[str]:
        return texts(filled.search(parse_query(text), **more))

    assert typed("oak source:telegram") == ["an oak leaf"]
    assert typed('"oak leaf"') == typed("oak lea*") == ["an oak leaf"]
    assert typed('"leaf oak"') == []
    assert typed("oak -leaf") == ["oak"]
    assert typed("-oak role:user in:cli:garden") == ["measure it"]
    assert typed("role:user in:cli:garden") == ["measure it", "oak"]
    assert typed("role:user", session="cli:garden", role="assistant") == ["no luck", "", "tall"]
    assert typed("") == []
    assert typed("...") == []


def test_what_was_not_understood_is_said_with_the_result(filled: Store) -> None:
    (note,) = filled.search(parse_query("oak role:tree")).notes
    assert note.startswith("role:tree was searched as words")


def test_words_are_found_by_their_beginning_only_if_nothing_has_them_whole_and_that_is_said(store: Store) -> None:
    store.save_messages([Save(user(text)) for text in ("gardening tools", "a gardener", "the garden", "box")])
    whole = store.search("garden")
    assert (texts(whole), whole.by_beginning) == (["the garden"], False)
    first = store.search("gardeni too", limit=1)
    assert (texts(first), first.by_beginning, first.next) == (["gardening tools"], True, None)
    one = store.search("gard", limit=2)
    assert (texts(one), one.by_beginning) == (["the garden", "a gardener"], True)
    two = store.search("gard", limit=2, cursor=one.next)
    assert (texts(two), two.by_beginning, two.next) == (["gardening tools"], True, None)
    assert texts(store.search(parse_query('"gard"'))) == texts(store.search("bo")) == []
    assert not store.search("nothing").by_beginning


@pytest.mark.parametrize("order", ["newest", "best"])
@pytest.mark.parametrize("filters", [{"words": "oak"}, {"words": "oak", "role": "user"}])
def test_pages_by_cursor_are_the_whole(store: Store, order: Any, filters: dict[str, Any]) -> None:
    store.save_messages([Save(user(f"oak {'oak ' * (n % 3)}{'tree ' * (n % 5)}{n}")) for n in range(23)])
    whole = store.search(order=order, limit=100, **filters)
    assert (len(whole), whole.next) == (23, None)
    found: list[Any] = []
    cursor = None
    while True:
        page = store.search(order=order, limit=5, cursor=cursor, **filters)
        found += page
        if (cursor := page.next) is None:
            break
        if order == "newest":
            store.save_messages([Save(user("oak later"))])  # moves no page
    assert [hit.node.id for hit in found] == [hit.node.id for hit in whole]


def test_pages_of_a_list_are_the_whole_and_each_looks_at_a_limited_number_of_messages(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.save_messages([Save(user(f"{n}") if n % 7 else assistant(f"{n}")) for n in range(50)])
    monkeypatch.setattr(search_query, "WINDOW", 5)
    monkeypatch.setattr(search_query, "MOST", 10)
    found: list[str] = []
    sizes: list[int] = []
    cursor = None
    while True:
        page = store.search(role="assistant", limit=2, cursor=cursor)
        found, sizes = found + texts(page), [*sizes, len(page)]
        if (cursor := page.next) is None:
            break
    assert found == ["49", "42", "35", "28", "21", "14", "7", "0"]
    assert max(sizes) <= 2
    assert min(sizes) < 2


def test_labelled_messages_are_listed_by_page(store: Store) -> None:
    ids = store.save_messages([Save(user(f"{n}"), label="a" if n % 2 else None) for n in range(10)])
    page = store.search(label="a", limit=3)
    assert texts(page) == ["9", "7", "5"]
    assert texts(store.search(label="a", limit=3, cursor=page.next)) == ["3", "1"]
    assert texts(store.search(label="a", limit=3, offset=4)) == ["1"]
    assert page[0].node.id == ids[9]


@pytest.mark.parametrize("cursor", ["", "newest", "best 1 2", "newest x", 7, "newest 1 --", f"newest {9**20}"])
def test_what_is_no_cursor_is_invalid(store: Store, cursor: Any) -> None:
    with pytest.raises(Invalid, match="cursor"):
        store.search("oak", cursor=cursor)


@pytest.mark.parametrize(
    "wrong", [{"has": "wings"}, {"status": "done"}, {"min_cost": "1"}, {"max_cost": float("nan")}, {"words": 7}]
)
def test_a_wrong_filter_is_invalid(store: Store, wrong: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        store.search(**wrong)


@pytest.mark.parametrize("field", ["channel", "label", "model", "tool", "directory"])
@pytest.mark.parametrize("text", ["\0", "\ud800", "%", "!", "'; DROP TABLE messages; --", "a" * 10_000])
def test_any_text_may_be_asked_for(filled: Store, field: str, text: str) -> None:
    assert listed(filled, **{field: text}) == []


def test_what_is_indexed_is_searched_without_indexing_the_rest(store: Store) -> None:
    store.save_messages([Save(user("oak one"))])
    assert store.index_status().waiting == 1
    assert store.index_status().share == 0
    assert store.index_status().searched is None
    assert texts(store.search("oak", index=False)) == []
    assert store.search("oak").waiting == 0
    (last,) = store.save_messages([Save(user("oak two"))])
    found = store.search("oak", index=False)
    assert (texts(found), found.waiting) == (["oak one"], 1)
    assert store.index_status().waiting == 1
    assert store.index_status().share == 0.5
    assert store.index() is True
    status = store.index_status()
    assert (status.waiting, status.share, status.searched_at) == (0, 1, store.get_messages([last])[0].created_at)


def test_a_list_needs_no_index(store: Store) -> None:
    store.save_messages([Save(user("oak"))])
    assert listed(store, role="user") == ["oak"]
    assert store.index_status().waiting == 1


def test_a_query_of_an_empty_store_finds_nothing(store: Store) -> None:
    assert store.search(Query(role="user")) == []
    assert store.search(Query(role="user")).next is None
    assert store.index_status().share == 1


def test_facets_count_what_each_filter_would_find(filled: Store) -> None:
    facets = filled.facets()
    assert (facets.messages, facets.is_complete) == (9, True)
    counts = {"role": facets.role, "channel": facets.channel, "model": facets.model, "tool": facets.tool}
    for name, found in {**counts, "status": facets.status, "has": facets.has}.items():
        assert found
        for facet in found:
            assert facet.messages == len(listed(filled, **{name: facet.name}, limit=100)), (name, facet)
    assert [(facet.name, facet.messages, facet.sessions) for facet in facets.directory] == [
        ("/home/me/garden", 6, 1),
        ("/home/me/gardening/beds", 3, 1),
    ]
    assert [facet.name for facet in facets.has] == ["error", "file", "image", "tool"]


def test_facets_are_those_of_what_the_query_finds(filled: Store) -> None:
    (first, *_) = filled.search("tall")
    filled.label(first.node.id, "topic")
    facets = filled.facets("tall")
    assert [(facet.name, facet.messages) for facet in facets.label] == [("topic", 1)]
    assert [facet.name for facet in facets.model] == ["claude-opus-4"]
    assert [facet.name for facet in filled.facets(parse_query("model:gpt-5")).role] == ["assistant"]
    assert filled.facets("nowhere").messages == 0


def test_facets_of_the_newest_messages_say_that_they_are_not_all(filled: Store) -> None:
    facets = filled.facets(most=3)
    assert (facets.messages, facets.is_complete) == (3, False)
    assert [facet.name for facet in facets.channel] == ["telegram"]
    with pytest.raises(Invalid):
        filled.facets(most=0)
