"""Branches, segments and comparisons: the shape of what a session has left behind."""

from __future__ import annotations

import pytest

from bough import Invalid, NotFound, Save, Store, Tree, assistant, user
from bough.model.branches import Segment
from tests.contract.test_messages import chain
from tests.contract.test_sessions import talk, texts


def shape(trees: list[Tree[Segment]]) -> list[tuple[int, str, str, int]]:
    return [
        (depth, tree.node.first.words, tree.node.last.words, tree.node.messages)
        for root in trees
        for depth, tree in root.walk()
    ]


def test_17_what_a_session_left_is_a_branch_that_can_be_listed_and_returned_to(store: Store) -> None:
    session = store.session("s")
    first, left = talk(session, "a", "b")
    session.rewind()
    (now,) = talk(session, "c")
    here, before = session.branches()
    assert (here.last.id, here.fork_id, here.messages, here.is_current) == (now[-1], now[-1], 0, True)
    assert (before.last.id, before.fork_id, before.messages, before.is_current) == (left[-1], first[-1], 2, False)
    assert (before.last.words, before.last.created_at) == ("B", store.path(left[-1])[-1].created_at)
    session.move(before.last.id)
    assert texts(session) == ["a", "A", "b", "B"]
    assert [branch.is_current for branch in session.branches()] == [False, True]


def test_17_a_session_before_its_first_message_still_lists_what_it_left(store: Store) -> None:
    session = store.session("s")
    assert session.branches() == []
    (turn,) = talk(session, "a")
    session.move(None)
    (branch,) = session.branches()
    assert (branch.last.id, branch.fork_id, branch.messages) == (turn[-1], None, 2)


def test_17_a_session_that_moved_to_another_tree_lists_both(store: Store) -> None:
    session, other = store.session("s"), store.session("other")
    (own,) = talk(session, "a")
    (foreign,) = talk(other, "b")
    session.move(foreign[0])
    assert [(branch.last.id, branch.fork_id, branch.messages) for branch in session.branches()] == [
        (foreign[1], foreign[0], 1),
        (own[1], None, 2),
    ]


def test_the_branches_of_a_deleted_session_are_not_found(store: Store) -> None:
    session = store.session("s")
    store.delete_session("s")
    with pytest.raises(NotFound):
        session.branches()


def test_segments_are_runs_without_a_fork(store: Store) -> None:
    ids = chain(store, 6)
    store.save_messages([Save(user("other"), ids[1]), Save(user("another tree"))])
    assert shape(store.segments()) == [
        (0, "question 0", "answer 1", 2),
        (1, "question 2", "answer 5", 4),
        (1, "other", "other", 1),
        (0, "another tree", "another tree", 1),
    ]
    assert shape(store.segments(ids[3])) == [(0, "answer 3", "answer 5", 3)]
    assert shape(store.segments(ids[3], whole=True)) == shape(store.segments())[:3]
    assert shape(store.segments(limit=1)) == shape(store.segments())[3:]
    with pytest.raises(Invalid):
        store.segments(limit=0)
    with pytest.raises(NotFound):
        store.segments("zzzzzz")


def test_a_segment_ends_at_the_head_of_a_session(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b", "c")
    session.rewind()
    assert shape(store.segments()) == [(0, "a", "B", 4), (1, "c", "C", 2)]
    (tree,) = store.segments()
    root = tree.node
    assert root.last.sessions == ("s",)


def test_two_dialogs_are_compared_from_where_they_part(store: Store) -> None:
    session = store.session("s")
    first, left = talk(session, "a", "b")
    session.rewind()
    (right,) = talk(session, "c")
    found = store.compare(left[-1], right[0][:5])
    assert [node.id for node in found.common] == first
    assert [node.id for node in found.a] == left
    assert [node.id for node in found.b] == right[:1]
    assert found.fork_id == first[-1]
    same = store.compare(first[0], first[1])
    assert ([node.id for node in same.common], same.a, len(same.b)) == (first[:1], (), 1)
    assert store.compare(first[0], first[0]).b == ()


def test_dialogs_of_two_trees_have_nothing_in_common(store: Store) -> None:
    one, other = store.save_messages([Save(user("a")), Save(assistant("b"))])
    found = store.compare(one, other)
    assert (found.common, found.fork_id, len(found.a), len(found.b)) == ((), None, 1, 1)
    with pytest.raises(NotFound):
        store.compare(one, "zzzzzz")


def test_an_external_name_moves_to_another_message_only_when_asked(store: Store) -> None:
    one, other = store.save_messages([Save(user("a")), Save(assistant("b"))])
    store.name_externally("checkpoint", "thread 1", message=one)
    store.name_externally("checkpoint", "thread 1", message=other)
    assert store.find_external("checkpoint", "thread 1") == one
    store.name_externally("checkpoint", "thread 1", message=other, move=True)
    assert store.find_external("checkpoint", "thread 1") == other
    store.name_externally("checkpoint", "thread 1", session=store.session("s").key, move=True)
    assert store.find_external("checkpoint", "thread 1") == "s"


def test_a_window_of_a_path_is_its_end_or_the_part_around_a_message(store: Store) -> None:
    session = store.session("cli:long")
    for place in range(10):
        session.save_turn([user(f"q{place}"), assistant(f"a{place}")])
    path = [node.id for node in session.path()]
    end = store.window(path[-1], size=4)
    assert ([node.id for node in end.nodes], end.start, end.total) == (path[-4:], 16, 20)
    middle = store.window(path[-1], path[7], 4)
    assert ([node.id for node in middle.nodes], middle.start) == (path[5:9], 5)
    assert store.window(path[-1], path[1], 4).start == 0
    assert store.window(path[-1], path[18], 4).start == 16
    assert len(store.window(path[-1]).nodes) == 20
    with pytest.raises(NotFound):
        store.window(path[3], path[7])
    with pytest.raises(Invalid):
        store.window(path[3], size=0)
