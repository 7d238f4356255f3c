"""What an adapter made of a path is remembered, as long as the store has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bough
from bough import assistant, user
from bough.adapters import paths
from bough.adapters.paths import Paths, copied
from bough.errors import NotFound
from bough.model import Node


@pytest.fixture
def store() -> Iterator[bough.Store]:
    with bough.connect(":memory:") as store:
        yield store


@pytest.fixture
def read() -> list[str]:
    """The texts that were read, in order."""
    return []


@pytest.fixture
def known(read: list[str]) -> Paths[str]:
    def text(node: Node) -> str:
        read.append(node.message.text)
        return node.message.text

    return Paths(text)


def ask(session: bough.Session, *numbers: int) -> str:
    """Adds turns; the id of the last message."""
    for number in numbers:
        ids = session.save_turn([user(f"q{number}"), assistant(f"a{number}")])
    return ids[-1]


def test_a_node_is_read_once(store: bough.Store, known: Paths[str], read: list[str]) -> None:
    tip = ask(store.session("s"), 1, 2)
    assert known.at(store, tip).values == known.at(store, tip).values == ("q1", "a1", "q2", "a2")
    assert read == ["q1", "a1", "q2", "a2"]


@pytest.mark.parametrize("turns", [1, paths.RECENT])
def test_what_a_path_has_grown_by_is_read_alone(
    store: bough.Store, known: Paths[str], read: list[str], turns: int
) -> None:
    session = store.session("s")
    known.at(store, ask(session, *range(40)))
    read.clear()
    grown = known.at(store, ask(session, *range(40, 40 + turns)))
    assert grown.values == tuple(node.message.text for node in session.path())
    assert grown.ids == tuple(node.id for node in session.path())
    assert len(read) <= paths.RECENT or turns == paths.RECENT


def test_a_branch_and_an_earlier_node_are_paths_of_their_own(store: bough.Store, known: Paths[str]) -> None:
    session = store.session("s")
    early, late = ask(session, 1), ask(session, 2)
    known.at(store, late)
    assert known.at(store, early).values == ("q1", "a1")
    assert known.at(store, ask(session.fork(at=early), 3)).values == ("q1", "a1", "q3", "a3")
    assert known.at(store, late).values == ("q1", "a1", "q2", "a2")


def test_the_end_of_a_path_is_the_same_remembered_or_not(store: bough.Store, known: Paths[str]) -> None:
    tip = ask(store.session("s"), 1, 2)
    read_first = [list(known.end(store, tip, last)) for last in (0, 1, 3, 9)]
    known.at(store, tip)
    assert [list(known.end(store, tip, last)) for last in (0, 1, 3, 9)] == read_first
    assert read_first == [[], ["a2"], ["a1", "q2", "a2"], ["q1", "a1", "q2", "a2"]]


def test_what_was_deleted_is_not_remembered(store: bough.Store, known: Paths[str]) -> None:
    tip = ask(store.session("s"), 1)
    known.at(store, tip)
    store.delete_session("s")
    with pytest.raises(NotFound):
        known.at(store, tip)
    with pytest.raises(NotFound):
        known.end(store, tip, 1)


def test_the_paths_that_were_used_last_stay_up_to_a_bound(
    store: bough.Store, known: Paths[str], read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "MOST", 4)
    tips = [ask(store.session(key), 1) for key in "abc"]
    for tip in tips:
        known.at(store, tip)
    read.clear()
    known.at(store, tips[1])
    assert read == []
    known.at(store, tips[0])
    assert read == ["q1", "a1"]


def test_a_copy_of_json_is_equal_and_apart() -> None:
    given: dict[str, Any] = {"a": [1, {"b": [None, "x"]}], "c": {}, "d": (1, [2])}
    copy = copied(given)
    assert copy == given
    copy["a"][1]["b"].append(1)
    copy["d"][1].append(3)
    assert given == {"a": [1, {"b": [None, "x"]}], "c": {}, "d": (1, [2])}
