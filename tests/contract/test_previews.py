"""What a list shows of sessions: words, counts, cost and status."""

from __future__ import annotations

from typing import Any

import pytest

from bough import SessionPreview, Store, assistant, user
from bough.model import Usage
from tests.contract.test_sessions import talk


def preview(store: Store, key: str) -> SessionPreview:
    info = store.find_session(key)
    assert info is not None
    (found,) = store.previews([info])
    assert found.info == info
    return found


def test_a_preview_has_the_first_question_and_the_last_words(store: Store) -> None:
    session = store.session("cli:garden", directory="/home/me")
    talk(session, "how tall?", "how old?")
    found = preview(store, "cli:garden")
    assert found.question is not None
    assert found.last is not None
    assert (found.question.words, found.last.words, found.title) == ("how tall?", "HOW OLD?", "how tall?")
    assert (found.messages, found.turns, found.branches, found.delegates) == (4, 2, 1, 0)
    assert found.status == "complete"
    assert found.info.directory == "/home/me"
    session.update(title="Oaks")
    assert preview(store, "cli:garden").title == "Oaks"


def test_an_empty_session_has_a_preview_without_words(store: Store) -> None:
    store.session("s", model="gpt-5")
    found = preview(store, "s")
    assert found == SessionPreview(found.info, model="gpt-5")
    assert found.title == ""


def test_tokens_cost_model_and_status_are_those_of_its_turns(store: Store) -> None:
    session = store.session("s", model="old")
    session.save_turn([user("a"), assistant("b")], model="one", usage=Usage(10, 5, cost=0.5))
    session.save_turn([user("c"), assistant("d")], model="two", usage=Usage(20, 5, cost=0.25))
    found = preview(store, "s")
    assert (found.usage.input_tokens, found.usage.output_tokens, found.usage.cost) == (30, 10, 0.75)
    assert (found.model, found.status) == ("two", "complete")
    with session.turn(user("e")):
        assert preview(store, "s").status == "running"


@pytest.mark.parametrize("how", ["fail", "interrupt", "stop"])
def test_the_status_is_how_the_newest_turn_ended(store: Store, how: str) -> None:
    session = store.session("s")
    talk(session, "a")
    with session.turn(user("b")) as turn:
        getattr(turn, how)(*(["no"] if how != "stop" else []))
    assert preview(store, "s").status == {"fail": "failed", "interrupt": "interrupted", "stop": "stopped"}[how]


def test_branches_are_the_ends_of_the_tree_and_delegates_are_counted(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    session.rewind(turns=1)
    talk(session, "c")
    session.fork(at=session.path()[1].id, key="other").save_turn([user("d"), assistant("e")])
    session.delegate("helper")
    assert (preview(store, "s").branches, preview(store, "s").delegates) == (3, 1)
    assert preview(store, "other").branches == 3
    assert preview(store, "other").messages == 4


def test_a_session_that_began_afresh_shows_its_new_question(store: Store) -> None:
    session = store.session("s")
    talk(session, "old")
    archived = session.new()
    talk(session, "new")
    assert archived is not None
    assert preview(store, "s").title == "new"
    assert preview(store, archived.key).title == "old"


def test_a_page_of_previews_is_in_the_order_of_the_page_and_leaves_out_what_is_gone(store: Store) -> None:
    for name in "abc":
        talk(store.session(name), name)
    page = store.sessions()
    store.delete_session("b")
    assert [found.info.key for found in store.previews(page)] == ["c", "a"]
    assert store.previews([]) == []


def test_the_number_of_statements_does_not_depend_on_the_length_of_the_page(anywhere: dict[str, Any]) -> None:
    import bough

    with bough.connect(**anywhere) as store:
        for n in range(30):
            talk(store.session(f"s{n}"), f"question {n}", "more")
        page, counts = store.sessions(), []
        rows = store.db.rows
        for length in (1, 30):
            calls: list[str] = []
            store.db.rows = lambda name, *params, calls=calls: (calls.append(name), rows(name, *params))[1]  # type: ignore[method-assign]
            assert len(store.previews(page[:length])) == length
            counts.append(len(calls))
        assert counts[0] == counts[1] <= 9
