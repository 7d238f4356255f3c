"""Wrong clocks and id collisions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from pathlib import Path

import pytest

import bough
from bough import Save, Store, assistant, user
from bough.model import ids

from .checks import assert_sound, steps, turns_on

START = 1_700_000_000_000_000
HOUR = 3_600_000_000


def backwards() -> Callable[[], int]:
    """An hour earlier each time it is asked."""
    moments = count(START, -HOUR)
    return lambda: next(moments)


def standing() -> Callable[[], int]:
    return lambda: START


def jumping() -> Callable[[], int]:
    rng = random.Random(7)
    return lambda: START + rng.randrange(-1000 * HOUR, 1000 * HOUR)


@pytest.fixture(params=[backwards, standing, jumping])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Store]:
    with bough.connect(tmp_path / "a.db", clock=request.param()) as opened:
        yield opened


# Clocks --------------------------------------------------------------------------------------------------------------


def test_messages_are_listed_in_order_of_arrival(store: Store) -> None:
    said = [store.save_messages([Save(user(f"m{n}"))])[0] for n in range(30)]
    assert [node.id for node in store.list_messages(ascending=True)] == said
    assert [node.id for node in store.list_messages()] == said[::-1]
    assert [node.id for node in store.list_messages(offset=3, limit=5)] == said[::-1][3:8]


def test_paths_children_and_turns_are_in_order_of_arrival(store: Store) -> None:
    session = store.session("cli:a")
    for number in range(12):
        if number % 2:
            session.save_turn(steps(f"t{number}", 4))
        else:
            first, *rest = steps(f"t{number}", 4)
            with session.turn(first) as turn:
                for message in rest:
                    turn.add(message)
    assert turns_on(session.path()) == [f"t{number}" for number in range(12)]
    begun = [node.id for node in session.path() if node.turn_id == node.id]
    assert [info.id for info in session.turns()] == begun[::-1]
    head = session.head
    assert head is not None
    replies = [store.save_messages([Save(assistant(f"r{n}"), head)])[0] for n in range(10)]
    assert [node.id for node in store.children(head)] == replies


def test_every_message_is_later_than_its_parent(store: Store) -> None:
    session = store.session("cli:a")
    for number in range(10):
        session.save_turn(steps(f"t{number}", 5))
    old = Save(user("from elsewhere"), session.head, created_at=5)
    store.save_messages(
        [old, Save(assistant("and back"), old, created_at=4), Save(user("later"), old, created_at=2**60)]
    )
    for tree in store.forest():
        for _, inner in tree.walk():
            for child in inner.children:
                assert child.node.created_at > inner.node.created_at
    assert all(before.created_at < after.created_at for before, after in pairwise(session.path()))


def test_sessions_are_listed_by_their_last_use(store: Store) -> None:
    for key in "abc":
        store.session(f"cli:{key}").save_turn(steps(f"first-{key}", 2))
    assert [info.key for info in store.sessions()] == ["cli:c", "cli:b", "cli:a"]
    store.session("cli:a").save_turn(steps("again", 2))
    assert [info.key for info in store.sessions()] == ["cli:a", "cli:c", "cli:b"]
    first, *rest = store.sessions()
    assert store.sessions(before=first.cursor) == rest


def test_the_most_recently_active_tree_comes_last(store: Store) -> None:
    roots = [store.save_messages([Save(user(f"root{n}"))])[0] for n in range(4)]
    store.save_messages([Save(assistant("again"), roots[1])])
    assert [tree.node.id for tree in store.forest()] == [roots[0], roots[2], roots[3], roots[1]]


def test_trash_and_search_list_the_newest_first(store: Store) -> None:
    said = [store.save_messages([Save(user(f"word m{n}"))])[0] for n in range(6)]
    assert [hit.node.id for hit in store.search("word")] == said[::-1]
    for id_ in said[:3]:
        store.delete_messages([id_])
    assert [store.restore(entry.id)[0] for entry in store.trash()] == said[:3][::-1]


def test_a_store_reopened_with_a_wrong_clock_keeps_the_order(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        store.session("cli:a").save_turn(steps("t0", 3))
    with bough.connect(path, clock=lambda: 1) as store:
        session = store.session("cli:a")
        session.save_turn(steps("t1", 3))
        with session.turn(steps("t2", 3)[0]) as turn:
            turn.add(steps("t2", 3)[1:])
        assert assert_sound(store) == {"cli:a": ["t0", "t1", "t2"]}
        path_ = session.path()
    assert all(before.created_at < after.created_at for before, after in pairwise(path_))


def test_a_clock_that_jumps_ahead_does_not_expire_the_lease_of_a_live_writer(tmp_path: Path) -> None:
    moments = iter([START, START, START + 10 * HOUR])
    with bough.connect(tmp_path / "a.db", clock=lambda: next(moments, START + 10 * HOUR)) as store:
        session = store.session("cli:a")
        first, *rest = steps("long", 3)
        with session.turn(first) as turn:  # silent for longer than its lease, and nobody else came
            turn.add(rest)
        assert assert_sound(store) == {"cli:a": ["long"]}


# Ids -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "a.db") as opened:
        yield opened


def small_space(monkeypatch: pytest.MonkeyPatch, letters: str = "ab") -> list[int]:
    """Ids of few letters; gives the lengths that were asked for."""
    rng, asked = random.Random(3), list[int]()

    def draw(count: int, length: int) -> list[str]:
        asked.extend([length] * count)
        return ["".join(rng.choice(letters) for _ in range(length)) for _ in range(count)]

    monkeypatch.setattr(ids, "mint_many", draw)
    return asked


def test_id_collisions_are_retried_and_lengthen_ids(plain: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = small_space(monkeypatch)
    said = [plain.save_messages([Save(user(f"m{n}"))])[0] for n in range(150)]  # only 64 ids have six of two letters
    assert len(set(said)) == 150
    assert {len(id_) for id_ in said} > {6}
    assert len(asked) > 150
    assert [node.message.text for node in plain.get_messages(said)] == [f"m{n}" for n in range(150)]
    assert plain.verify() == []


def test_ids_minted_in_one_call_are_distinct(plain: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    small_space(monkeypatch)
    said = plain.save_messages([Save(user(f"m{n}")) for n in range(300)])
    assert len(set(said)) == 300
    assert [node.message.text for node in plain.get_messages(said)] == [f"m{n}" for n in range(300)]


def test_an_id_in_the_trash_is_not_minted_again(plain: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    small_space(monkeypatch)
    first = plain.save_messages([Save(user(f"m{n}")) for n in range(30)])
    plain.delete_messages(first)
    second = plain.save_messages([Save(user(f"n{n}")) for n in range(60)])
    assert set(first).isdisjoint(second)
    assert {entry.id for entry in plain.trash()}.isdisjoint(first + second)
    plain.restore(first[0])
    assert [node.message.text for node in plain.get_messages(first)] == [f"m{n}" for n in range(30)]
    assert len(list(plain.list_messages())) == 90
    assert plain.verify() == []


def test_numbers_in_the_trash_are_not_reused(plain: Store) -> None:
    """Rows are put back under the numbers that they had."""
    first = plain.save_messages([Save(user("a")), Save(user("b"))])
    plain.delete_messages(first)
    plain.save_messages([Save(user("c")), Save(user("d"))])
    plain.restore(first[0])
    assert [node.message.text for node in plain.list_messages(ascending=True)] == ["a", "b", "c", "d"]


def test_ids_are_six_characters_and_distinct(plain: Store) -> None:
    said = plain.save_messages([Save(user("x")) for _ in range(5000)])
    assert len(set(said)) == 5000
    assert {len(id_) for id_ in said} == {6}
    assert set("".join(said)) <= set(ids.ALPHABET)


def test_ids_minted_in_one_call_share_a_prefix_and_an_index_page() -> None:
    minted = ids.mint_many(40, 6)
    assert len(set(minted)) == 40
    assert [len({id_[:2] for id_ in minted[at : at + 16]}) for at in (0, 16, 32)] == [1, 1, 1]
    beginnings = {ids.mint(6)[:2] for _ in range(3000)}
    assert len(beginnings) > 1000, "of 1,296"
