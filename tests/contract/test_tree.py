"""Paths, children, forests, forks, labels, and ids that people type."""

from __future__ import annotations

import gc

import pytest

from bough import Ambiguous, Conflict, Invalid, Node, NotFound, Save, Store, Tree, assistant, user
from tests.contract.test_messages import chain


def test_a_path_is_the_dialog_from_the_root(store: Store) -> None:
    ids = chain(store, 10)
    assert [node.id for node in store.path(ids[6])] == ids[:7]


def test_a_path_does_not_include_what_follows_or_lies_beside(store: Store) -> None:
    ids = chain(store, 4)
    store.save_messages([Save(assistant("another answer"), ids[2])])
    assert [node.id for node in store.path(ids[2])] == ids[:3]


def test_the_end_of_a_path_knows_its_parent(store: Store) -> None:
    ids = chain(store, 10)
    end = store.path(ids[9], last=3)
    assert [node.id for node in end] == ids[7:]
    assert end[0].parent_id == ids[6]


def test_what_was_loaded_can_be_read_when_it_is_deleted(store: Store) -> None:
    said = [user("question", "and more"), assistant("answer " * 400), user("long " * 5000)]
    ids: list[str] = []
    for message in said:
        ids += store.save_messages([Save(message, ids[-1] if ids else None)])
    path = store.path(ids[-1])
    store.delete_messages([ids[0]], recursive=True, keep=False)
    assert [node.message for node in path] == said


@pytest.mark.parametrize("on", [True, False])
def test_loading_leaves_the_garbage_collector_as_it_was(store: Store, on: bool) -> None:
    ids = chain(store, 10)
    was_on = gc.isenabled()
    (gc.enable if on else gc.disable)()
    try:
        assert len(store.path(ids[9])) == 10
        assert gc.isenabled() is on
        with pytest.raises(NotFound):
            store.path("nowhere")
        assert gc.isenabled() is on
    finally:
        (gc.enable if was_on else gc.disable)()


def test_children_are_the_oldest_first(store: Store) -> None:
    (root,) = store.save_messages([Save(user("root"))])
    ids = store.save_messages([Save(assistant(str(place)), root) for place in range(5)])
    assert [node.id for node in store.children(root)] == ids
    assert store.children(ids[0]) == []


def shape(trees: list[Tree[Node]]) -> list[tuple[int, str]]:
    return [(depth, tree.node.message.text) for root in trees for depth, tree in root.walk()]


def test_a_forest_has_the_most_recently_active_tree_and_branch_last(store: Store) -> None:
    first, second = store.save_messages([Save(user("first")), Save(user("second"))])
    store.save_messages([Save(assistant("1a"), first), Save(assistant("1b"), first), Save(assistant("2a"), second)])
    (old,) = [node.id for node in store.children(first) if node.message.text == "1a"]
    store.save_messages([Save(user("1a again"), old)])
    assert shape(store.forest()) == [
        (0, "second"), (1, "2a"), (0, "first"), (1, "1b"), (1, "1a"), (2, "1a again"),
    ]  # fmt: skip
    assert shape(store.forest(old)) == [(0, "1a"), (1, "1a again")]


def test_indentation_grows_only_where_the_conversation_branches(store: Store) -> None:
    ids = chain(store, 3)
    store.save_messages([Save(user("other"), ids[1])])
    drawn = [(depth, tree.node.message.text) for depth, tree in store.forest()[0].branches()]
    assert drawn == [(0, "question 0"), (0, "answer 1"), (1, "question 2"), (1, "other")]


def test_a_fork_is_a_session_that_stands_at_any_message(store: Store) -> None:
    ids = chain(store, 5)
    fork = store.fork(ids[1], key="experiment", title="Another way")
    assert [node.id for node in fork.path()] == ids[:2]
    assert (fork.info.key, fork.info.title) == ("experiment", "Another way")


def test_a_fork_without_a_key_gets_one(store: Store) -> None:
    ids = chain(store, 1)
    assert store.fork(ids[0]).key != store.fork(ids[0]).key


def test_a_fork_under_a_key_in_use_is_a_conflict(store: Store) -> None:
    ids = chain(store, 1)
    store.session("taken")
    with pytest.raises(Conflict, match="'taken'"):
        store.fork(ids[0], key="taken")


def test_a_fork_at_no_message_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="'nosuch'"):
        store.fork("nosuch")


def test_a_label_can_be_put_on_changed_and_taken_off(store: Store) -> None:
    (id,) = chain(store, 1)
    digest = store.get_messages([id])[0].digest
    for label in ("a topic", "subagent:review:1", None):
        store.label(id, label)
        assert store.get_messages([id])[0].label == label
    assert store.get_messages([id])[0].digest == digest
    with pytest.raises(NotFound):
        store.label("nosuch", "x")


def test_a_prefix_of_four_names_a_message_and_none_and_many_are_different_errors(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = iter(["abcd11", "abcd22", "abzz33"])
    monkeypatch.setattr("bough.model.ids.mint_many", lambda count, _: [next(drawn) for _ in range(count)])
    ids = store.save_messages([Save(user(text)) for text in "abc"])
    assert store.path("abzz")[0].id == ids[2]
    assert store.find_id("abzz3") == "abzz33"
    assert store.get_messages(["abcd1"])[0].id == "abcd11"
    assert store.find_id("zzzz") is None
    with pytest.raises(NotFound, match="'abz'"):
        store.path("abz")
    with pytest.raises(Ambiguous, match="'abcd11', 'abcd22'"):
        store.path("abcd")
    with pytest.raises(Invalid):
        store.path(None)  # type: ignore[arg-type]


def test_names_of_others_are_remembered_once(store: Store) -> None:
    one, two = chain(store, 2)
    store.session("cli:default")
    store.name_externally("openai.response", "resp_1", message=one)
    store.name_externally("openai.response", "resp_1", message=two)
    store.name_externally("openai.conversation", "conv_1", session="cli:default")
    assert store.find_external("openai.response", "resp_1") == one
    assert store.find_external("openai.conversation", "conv_1") == "cli:default"
    assert store.find_external("openai.response", "resp_2") is None
