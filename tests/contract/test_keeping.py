"""Pins, and the expiry of sessions: what upkeep keeps, and what it takes."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import bough
from bough import Invalid, NotFound, Store, assistant, user
from tests.contract.test_changes import since
from tests.contract.test_messages import chain
from tests.contract.test_sessions import talk, texts

DAY = 86_400_000_000
START = 10**15


@pytest.fixture
def now() -> list[int]:
    return [START]


@pytest.fixture
def timed(connect: Callable[..., Any], now: list[int]) -> Any:
    with connect(clock=lambda: now[0]) as store:
        yield store


def taken(store: Any, *args: Any, **how: Any) -> list[str]:
    """What a dry run says, which is what the run then does."""
    would = [info.key for info in store.clean(*args, **how)]
    assert [info.key for info in store.clean(*args, dry_run=False, **how)] == would
    return would


# Pins ---------------------------------------------------------------------------------------------------------------


def test_messages_and_sessions_are_pinned_and_listed(timed: Any, now: list[int]) -> None:
    (first, second), _ = talk(timed.session("s"), "a", "b")
    timed.session("other")
    timed.pin(first)
    now[0] += 5
    timed.pin(second)
    timed.session("s").pin()
    assert [(pin.message_id, pin.pinned_at) for pin in timed.pins()] == [(second, START + 5), (first, START)]
    assert [info.key for info in timed.sessions(pinned=True)] == ["s"]
    assert timed.session("s").info.pinned == datetime(2001, 9, 9, 1, 46, 40, 5, tzinfo=UTC)
    timed.unpin(second)
    timed.session("s").unpin()
    assert [pin.message_id for pin in timed.pins()] == [first]
    assert timed.sessions(pinned=True) == []
    assert timed.session("s").info.pinned is None


def test_pinning_twice_changes_nothing_and_each_pin_is_a_change(store: Store) -> None:
    session = store.session("s")
    ((first, _),) = talk(session, "a")
    cursor = store.cursor()
    for _ in range(2):
        store.pin(first)
        session.pin()
    for _ in range(2):
        store.unpin(first)
        session.unpin()
    assert since(store, cursor) == [("pinned", None, first), ("pinned", "s", None)] * 2


def test_what_is_not_there_is_not_pinned(store: Store) -> None:
    with pytest.raises(NotFound):
        store.pin("zzzzzz")
    session = store.session("s")
    store.delete_session("s")
    with pytest.raises(NotFound):
        session.pin()


def test_clean_takes_no_pinned_session_nor_one_that_a_pinned_message_would_go_with(timed: Any, now: list[int]) -> None:
    for key in ("plain", "pinned", "holds", "leads", "parent"):
        talk(timed.session(key), key)
    timed.session("pinned").pin()
    timed.pin(timed.session("holds").head)
    timed.pin(timed.session("leads").path()[0].id)
    timed.session("parent").delegate("scout").pin()
    now[0] += 2 * DAY
    assert taken(timed, timedelta(days=1)) == ["plain"]
    timed.session("pinned").unpin()
    assert taken(timed, timedelta(days=1)) == ["pinned"]


def test_a_pinned_message_that_another_session_reaches_keeps_no_session(timed: Any, now: list[int]) -> None:
    ((first, _),) = talk(timed.session("old"), "a")
    timed.pin(first)
    now[0] += 2 * DAY
    timed.session("old").fork(key="new")
    assert taken(timed, DAY / 1_000_000) == ["old"]
    assert texts(timed.session("new")) == ["a", "A"]
    assert [pin.message_id for pin in timed.pins()] == [first]


def test_a_pin_reaches_what_leads_to_it(store: Store) -> None:
    root, middle, end = chain(store, 3)
    assert store.unreachable() == [root, middle, end]
    store.pin(middle)
    assert store.unreachable() == [end]
    assert [finding.subject for finding in store.verify(unreachable=True)] == [end]


def test_what_was_deleted_is_found_in_the_trash_by_message_and_by_session(store: Store) -> None:
    session = store.session("cli:oak")
    session.save_turn([user("How old?"), assistant("Old.")])
    first, last = (node.id for node in session.path())
    assert store.find_deleted(last) is None
    store.delete_messages([last])
    entry = store.find_deleted(last)
    assert entry is not None
    assert entry.messages == 1
    assert store.find_deleted(first) is None
    store.delete_session("cli:oak")
    assert (found := store.find_deleted("cli:oak")) is not None
    assert found.sessions == ("cli:oak",)


def test_a_deleted_message_is_restored_with_its_pin(store: Store) -> None:
    root, _, end = chain(store, 3)
    store.pin(end)
    before = store.pins()
    store.delete_messages([root], recursive=True)
    assert store.pins() == []
    store.restore(end)
    assert (store.pins(), store.verify()) == (before, [])


def test_a_deleted_session_is_restored_with_its_pin_and_expiry(timed: Any) -> None:
    session = timed.session("s")
    talk(session, "a")
    session.pin()
    session.expire(after=60)
    before = session.info
    timed.delete_session("s")
    timed.restore("s")
    assert session.info == before


def test_a_fork_has_no_pin_and_what_new_keeps_has_it(store: Store) -> None:
    session = store.session("s")
    talk(session, "a")
    session.pin()
    session.expire(after=60)
    fork, archived = session.fork().info, session.new().info  # type: ignore[union-attr]
    assert (fork.pinned_at, fork.expires_at) == (None, None)
    assert archived.pinned_at == session.info.pinned_at
    assert archived.expires_after == session.info.expires_after == 60_000_000


# Expiry -------------------------------------------------------------------------------------------------------------


def test_clean_takes_what_has_expired_at_its_time(timed: Any, now: list[int]) -> None:
    for key, days in (("one", 1), ("two", 2)):
        timed.session(key).expire(START + days * DAY)
    timed.session("never")
    assert timed.session("one").info.expires_at == START + DAY
    assert taken(timed) == []
    now[0] += DAY
    assert taken(timed) == ["one"]
    now[0] += 9 * DAY
    assert taken(timed, channel="cli") == []
    assert taken(timed) == ["two"]
    assert [info.key for info in timed.sessions()] == ["never"]
    timed.restore("one")


def test_clean_takes_what_has_not_been_used_for_as_long_as_it_said(timed: Any, now: list[int]) -> None:
    session = timed.session("s")
    session.expire(after=timedelta(days=1))
    assert session.info.expires == session.info.updated + timedelta(days=1)
    now[0] += DAY - 1
    talk(session, "still here")
    now[0] += DAY - 1
    assert taken(timed) == []
    now[0] += 1
    assert taken(timed) == ["s"]


def test_idle_and_expired_sessions_are_taken_together(timed: Any, now: list[int]) -> None:
    timed.session("idle")
    timed.session("expired").expire(after=1)
    now[0] += 9 * DAY
    timed.session("soon").expire(after=1)
    now[0] += 2_000_000
    assert taken(timed, timedelta(days=5)) == ["idle", "expired", "soon"]


def test_an_expiry_can_be_taken_back_and_a_pin_is_stronger(timed: Any, now: list[int]) -> None:
    pinned, kept = timed.session("pinned"), timed.session("kept")
    pinned.expire(START + 1)
    pinned.pin()
    kept.expire(START + 1)
    kept.expire()
    assert kept.info.expires is None
    now[0] += DAY
    assert taken(timed) == []


def test_a_delegate_that_has_expired_goes_without_the_session_it_worked_for(timed: Any, now: list[int]) -> None:
    timed.session("one").delegate("scout").expire(after=1)
    both = timed.session("both")
    both.expire(after=1)
    both.delegate("scout").expire(after=1)
    now[0] += DAY
    assert sorted(taken(timed)) == ["both", "both:delegate:scout", "one:delegate:scout"]
    assert [info.key for info in timed.sessions()] == ["one"]


def test_an_expired_session_in_a_turn_is_not_taken(timed: Any, now: list[int]) -> None:
    session = timed.session("s")
    session.expire(START + 1)
    now[0] += 2
    with session.turn("question") as turn:
        assert taken(timed) == []
        turn.add(assistant("answer"))
    assert taken(timed) == ["s"]


def test_an_expiry_is_a_time_or_a_span(store: Store) -> None:
    session = store.session("s")
    for wrong in ({"at": 7}, {"after": -1}, {"at": START, "after": 1}, {"after": "soon"}):
        with pytest.raises(Invalid):
            session.expire(**wrong)
    assert session.info.expires_at is None


# Elsewhere ----------------------------------------------------------------------------------------------------------


def test_a_copy_has_the_pins_and_expiries(store: Store) -> None:
    plain = getattr(store, "_facade", store)
    origin: Store = getattr(plain, "sync", plain)
    session = origin.session("s")
    ((first, second),) = talk(session, "a")
    origin.pin(first)
    session.pin()
    session.expire(after=60)
    with bough.connect(":memory:") as target:
        origin.copy_to(target)
        assert (target.pins(), target.sessions()) == (origin.pins(), origin.sessions())
        origin.unpin(first)
        origin.pin(second)
        origin.copy_to(target)
        assert target.pins() == origin.pins()


def test_a_pin_of_a_message_that_is_gone_is_found_and_repaired(anywhere: dict[str, Any]) -> None:
    with bough.connect(**anywhere) as store:
        store.db.transact(lambda: store.db.run("insert_pin", 99, START))
        assert [finding.code for finding in store.verify(repair=True)] == ["homeless_pin"]
        assert store.verify() == []
