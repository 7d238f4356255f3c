"""Deleting to the trash, restoring, purging, cleaning."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from bough import Ambiguous, Conflict, Media, Message, NotFound, Refused, Save, Store, assistant, user
from tests.contract.test_messages import chain
from tests.contract.test_sessions import talk, texts


def blobs(store: Any) -> int:
    store = getattr(store, "_facade", store)
    return len(getattr(store, "sync", store).db.rows("blob_counts"))


def test_restoring_brings_back_equal_nodes(store: Store) -> None:
    ids = chain(store, 6)
    store.label(ids[4], "topic")
    before = list(store.list_messages())
    store.delete_messages([ids[2]], recursive=True)
    assert len(list(store.list_messages())) == 2
    assert store.restore(ids[4]) == ids[2:]
    assert list(store.list_messages()) == before
    assert store.trash() == []
    assert store.verify() == []


def test_an_entry_says_what_it_holds(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    store.delete_session("s")
    (entry,) = store.trash()
    assert (entry.messages, entry.sessions, entry.reason) == (4, ("s",), "session s")
    with pytest.raises(NotFound, match="'nosuch'"):
        store.restore("nosuch")


def test_what_was_deleted_is_restored_by_the_beginning_of_an_id(store: Store) -> None:
    first, second = chain(store, 3), chain(store, 1)
    store.delete_messages([first[1]], recursive=True)
    assert store.restore(first[2][:5]) == first[1:]
    store.delete_messages([first[1]], recursive=True)
    (entry,) = store.trash()
    assert store.restore(entry.id[:5]) == first[1:]
    store.delete_messages(second)
    with pytest.raises(NotFound, match=repr(second[0][:3])):
        store.restore(second[0][:3])


def test_the_beginning_of_ids_in_two_entries_is_ambiguous(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = iter(["alder1", "alder2", "elm111", "elm222"])
    monkeypatch.setattr("bough.model.ids.mint_many", lambda count, _: [next(drawn) for _ in range(count)])
    for id in store.save_messages([Save(user("a")), Save(user("b"))]):
        store.delete_messages([id])
    with pytest.raises(Ambiguous, match="'elm222', 'elm111'"):
        store.restore("alde")
    store.restore("alder1")
    assert store.restore("alde") == ["alder2"]


def test_deleting_for_good_leaves_no_trash(store: Store) -> None:
    ids = chain(store, 2)
    store.delete_messages([ids[0]], recursive=True, keep=False)
    assert store.trash() == []
    assert list(store.list_messages()) == []


def test_a_child_is_restored_after_its_parent(store: Store) -> None:
    ids = chain(store, 3)
    store.delete_messages([ids[2]])
    store.delete_messages([ids[1]])
    with pytest.raises(Refused, match="restore that first"):
        store.restore(ids[2])
    store.restore(ids[1])
    store.restore(ids[2])
    assert [node.id for node in store.path(ids[2])] == ids


def test_a_session_goes_back_to_where_it_stood(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b")
    store.delete_messages([turns[1][0]], recursive=True)
    assert texts(session) == ["a", "A"]
    store.restore(turns[1][1])
    assert texts(session) == ["a", "A", "b", "B"]
    store.delete_messages([turns[1][0]], recursive=True)
    talk(session, "c")
    store.restore(turns[1][0])
    assert texts(session) == ["a", "A", "c", "C"]


def test_a_turn_that_lost_its_end_gets_it_back(store: Store) -> None:
    session = store.session("s")
    (ids,) = talk(session, "a")
    store.delete_messages([ids[1]])
    assert store.turn_info(ids[0]).last_id == ids[0]
    store.restore(ids[1])
    assert store.turn_info(ids[0]).last_id == ids[1]
    assert session.head == ids[1]


def test_a_session_is_not_restored_over_another_of_the_same_key(store: Store) -> None:
    talk(store.session("s"), "old")
    store.delete_session("s")
    talk(store.session("s"), "new")
    with pytest.raises(Conflict, match="'s'"):
        store.restore("s")
    assert texts(store.session("s")) == ["new", "NEW"]
    assert len(store.trash()) == 1


def test_a_deleted_turn_may_be_said_again_and_then_restored(store: Store) -> None:
    session = store.session("s")
    first = session.save_turn([user("a"), assistant("A")], idempotency_key="k")
    store.delete_messages([first[0]], recursive=True)
    second = session.save_turn([user("a"), assistant("A")], idempotency_key="k")
    store.restore(first[0])
    assert session.save_turn([user("a"), assistant("A")], idempotency_key="k") == second
    assert store.verify() == []


def test_blobs_are_kept_for_the_trash_and_gone_after_the_purge(store: Store) -> None:
    picture = Message("user", (Media("image", "image/png", data=bytes(range(256)) * 100),))
    one, two = store.save_messages([Save(picture), Save(picture)])
    assert blobs(store) == 1
    store.delete_messages([one])
    store.delete_messages([two])
    assert blobs(store) == 1
    store.restore(one)
    assert store.get_messages([one])[0].message == picture
    store.purge()
    assert blobs(store) == 1
    store.delete_messages([one], keep=False)
    assert blobs(store) == 0
    with pytest.raises(NotFound):
        store.restore(two)


def test_purge_takes_only_what_is_old_enough(connect: Callable[..., Any]) -> None:
    now = [1_000_000_000]
    with connect(clock=lambda: now[0]) as store:
        old, young = chain(store, 1), chain(store, 1)
        store.delete_messages(old)
        now[0] += 3_600_000_000
        store.delete_messages(young)
        assert store.purge(timedelta(minutes=30)) == 1
        assert [entry.messages for entry in store.trash()] == [1]
        store.restore(young[0])


def test_clean_takes_the_sessions_of_one_channel(connect: Callable[..., Any]) -> None:
    now = [10**15]
    with connect(clock=lambda: now[0]) as store:
        for key in ("cli:a", "telegram:7", "plain"):
            talk(store.session(key), "a")
        now[0] += 86_400_000_000
        assert [info.key for info in store.clean(60, channel="telegram")] == ["telegram:7"]
        assert store.clean(60, dry_run=False, channel="discord") == []
        assert [info.key for info in store.clean(60, dry_run=False, channel="cli")] == ["cli:a"]
        assert [info.key for info in store.clean(60)] == ["telegram:7", "plain"]


def test_clean_announces_before_it_removes_and_removes_to_the_trash(connect: Callable[..., Any]) -> None:
    now = [10**15]
    with connect(clock=lambda: now[0]) as store:
        talk(store.session("old"), "a")
        talk(store.session("old").delegate("scout"), "b")
        now[0] += 40 * 86_400_000_000
        talk(store.session("young"), "c")
        would = store.clean(timedelta(days=30))
        assert [info.key for info in would] == ["old"]
        assert len(store.sessions()) == 3
        assert [info.key for info in store.clean(timedelta(days=30), dry_run=False)] == ["old"]
        assert [info.key for info in store.sessions()] == ["young"]
        assert store.clean(timedelta(days=30)) == []
        store.restore("old")
        assert texts(store.session("old")) == ["a", "A"]


def test_restoring_does_not_move_a_session_that_is_in_a_turn(store: Store) -> None:
    session = store.session("s")
    turns = talk(session, "a", "b")
    store.delete_messages([turns[1][0]], recursive=True)
    with session.turn("c") as turn:
        store.restore(turns[1][0])
        turn.add(assistant("C"))
    assert texts(session) == ["a", "A", "c", "C"]
