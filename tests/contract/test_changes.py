"""The order of changes: what is recorded, in which order, from which cursor, and how soon others see it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import bough
from bough import CursorExpired, Invalid, Message, Refused, Save, assistant, user
from bough.model.imported import Conversation, ImportedMessage
from bough.storage import changes

TURN = [user("ask"), assistant("reply")]


def since(store: bough.Store, cursor: int) -> list[tuple[str, str | None, str | None]]:
    return [(change.kind, change.session, change.message_id) for change in store.changes(cursor)]


def test_a_store_that_never_changed_has_no_changes(store: bough.Store) -> None:
    assert store.cursor() == 0
    assert store.changes() == store.changes(0) == []


def test_a_whole_turn_is_one_change(store: bough.Store) -> None:
    session = store.session("cli:a")
    cursor = store.cursor()
    _, last = session.save_turn(TURN)
    assert since(store, cursor) == [("added", "cli:a", last)]
    assert store.cursor() == cursor + 1


def test_a_turn_step_by_step_is_one_change_a_step(store: bough.Store) -> None:
    session = store.session("cli:a")
    cursor = store.cursor()
    with session.turn("ask") as turn:
        turn.sketch("rep")
        (reply,) = turn.add(assistant("reply"))
    assert since(store, cursor) == [
        ("opened", "cli:a", turn.id), ("sketched", "cli:a", turn.id),
        ("added", "cli:a", reply), ("ended", "cli:a", turn.id),
    ]  # fmt: skip


def test_a_repeated_turn_is_no_change(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.save_turn(TURN, idempotency_key="k")
    cursor = store.cursor()
    session.save_turn(TURN, idempotency_key="k")
    assert store.cursor() == cursor


def test_each_verb_says_what_it_changed(store: bough.Store) -> None:
    first, second = store.save_messages([Save(user("a")), Save(user("b"))])
    session = store.session("cli:a")
    asked, replied = session.save_turn(TURN)
    store.label(first, "topic")
    store.name_externally("resp", "resp_1", message=replied)
    session.update(title="Title")
    fork = session.fork(key="cli:b")
    session.rewind()
    fork.record([*TURN, user("more"), assistant("yes")])
    assert since(store, 0) == [
        ("added", None, second), ("created", "cli:a", None), ("added", "cli:a", replied), ("labelled", None, first),
        ("named", None, replied), ("updated", "cli:a", None), ("created", "cli:b", replied), ("moved", "cli:a", None),
        ("added", "cli:b", fork.head),
    ]  # fmt: skip
    assert asked != replied


def test_deleting_restoring_and_purging_are_changes(store: bough.Store) -> None:
    (lone,) = store.save_messages([Save(user("a"))])
    session = store.session("cli:a")
    asked, replied = session.save_turn(TURN)
    cursor = store.cursor()
    store.delete_messages([lone, "------"])
    store.delete_messages([replied])
    store.restore(replied)
    store.delete_session("cli:a")
    store.restore("cli:a")
    session.clear()
    assert store.purge() == 2
    assert store.purge() == 0
    assert since(store, cursor) == [
        ("deleted", None, lone), ("deleted", None, replied), ("moved", "cli:a", asked),
        ("restored", None, replied), ("moved", "cli:a", replied), ("deleted", "cli:a", None),
        ("restored", "cli:a", asked), ("cleared", "cli:a", None), ("purged", None, None),
    ]  # fmt: skip


def test_new_compact_and_delegate_are_changes(store: bough.Store) -> None:
    session = store.session("cli:a")
    for _ in range(2):
        head = session.save_turn(TURN)[-1]
    cursor = store.cursor()
    summary = session.compact(lambda _: "summary", 1)
    archived = session.new()
    child = session.delegate("scout")
    assert archived is not None
    assert since(store, cursor) == [
        ("compacted", "cli:a", summary), ("created", archived.key, summary), ("moved", "cli:a", None),
        ("created", child.key, None),
    ]  # fmt: skip
    assert head != summary


def conversation(*said: str) -> Conversation:
    def message(at: int, text: str) -> Message:
        return assistant(text) if at % 2 else user(text)

    items = [ImportedMessage(f"m{at}", message(at, text), f"m{at - 1}" if at else None) for at, text in enumerate(said)]
    return Conversation("other", "c1", items)


def test_an_import_is_a_change_and_importing_again_is_none(store: bough.Store) -> None:
    key = store.bring_in(conversation("a", "b")).session
    found = since(store, 0)
    assert [kind for kind, *_ in found] == ["created", "added", "moved", "imported"]
    assert {session for _, session, _ in found} == {key}
    cursor = store.cursor()
    store.bring_in(conversation("a", "b"))
    assert store.cursor() == cursor


def test_a_copy_is_one_change_of_its_target(store: bough.Store, connect: Callable[..., Any]) -> None:
    store.session("cli:a").save_turn(TURN)
    with bough.connect(":memory:") as target:
        (store.sync if hasattr(store, "sync") else store).copy_to(target)
        assert since(target, 0) == [("copied", None, None)]


def test_what_was_refused_is_no_change(store: bough.Store) -> None:
    first, _ = store.session("cli:a").save_turn(TURN)
    cursor = store.cursor()
    with pytest.raises(Refused):
        store.delete_messages([first])
    with pytest.raises(Invalid):
        store.session("cli:a").save_turn([user("no reply")])
    assert store.cursor() == cursor


def test_reading_and_searching_are_no_changes(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.save_turn(TURN)
    cursor = store.cursor()
    session.path()
    assert store.search("reply")
    store.verify()
    assert store.cursor() == cursor


def test_changes_go_on_after_a_cursor_page_by_page(store: bough.Store) -> None:
    for at in range(5):
        store.session(f"cli:{at}")
    first = store.changes(limit=2)
    assert [change.session for change in first] == ["cli:0", "cli:1"]
    assert [change.session for change in store.changes(first[-1].cursor)] == ["cli:2", "cli:3", "cli:4"]
    assert store.changes(store.cursor()) == []
    assert store.changes(limit=0) == []


def test_a_change_has_the_time_of_its_transaction(connect: Callable[..., Any]) -> None:
    with connect(clock=lambda: 1_700_000_000_000_001) as store:
        store.session("cli:a")
        assert [change.at for change in store.changes()] == [1_700_000_000_000_001]


@pytest.mark.parametrize("cursor", ["1", -1, True, 1.5])
def test_what_is_no_cursor_is_invalid(store: bough.Store, cursor: Any) -> None:
    with pytest.raises(Invalid, match="cursor"):
        store.changes(cursor)
    with pytest.raises(Invalid, match="cursor"):
        list(store.watch(cursor, timeout=0))


def test_a_negative_limit_is_invalid(store: bough.Store) -> None:
    with pytest.raises(Invalid, match="limit"):
        store.changes(limit=-1)


def test_a_cursor_of_another_store_has_expired(store: bough.Store) -> None:
    store.session("cli:a")
    with pytest.raises(CursorExpired, match=r"99 is no cursor of this store, whose newest change is 1.*store\.cursor"):
        store.changes(99)


def test_old_changes_are_pruned_and_a_cursor_before_them_has_expired(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KEPT", 3)
    monkeypatch.setattr(changes, "PRUNE_EVERY", 1)
    with connect() as store:
        for at in range(10):
            store.session(f"cli:{at}")
        assert [change.cursor for change in store.changes()] == [8, 9, 10]
        assert [change.cursor for change in store.changes(7)] == [8, 9, 10]
        with pytest.raises(CursorExpired, match=r"after 6 are not kept any more; the oldest is 8.*store\.cursor"):
            store.changes(6)
        with pytest.raises(CursorExpired):
            list(store.watch(6, timeout=0))
        assert [change.cursor for change in store.watch(7, timeout=0)] == [8, 9, 10]


def test_one_change_prunes_a_bounded_number_of_old_ones(
    connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KEPT", 3)
    monkeypatch.setattr(changes, "PRUNED", 4)
    with connect() as store:
        for at in range(12):
            monkeypatch.setattr(changes, "PRUNE_EVERY", 2**62 if at < 10 else 1)
            store.session(f"cli:{at}")
        assert [change.cursor for change in store.changes()] == [9, 10, 11, 12]


def test_the_changes_of_a_large_transaction_prune_as_often_as_those_of_small_ones() -> None:
    for now in (997, 1_000):
        assert sum(changes.prunes(now, 1, message) for message in range(1, 99_701)) == 100


def test_the_newest_change_is_never_pruned(connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "KEPT", 1)
    monkeypatch.setattr(changes, "PRUNE_EVERY", 1)
    with connect() as store:
        for at in range(3):
            store.session(f"cli:{at}")
            assert [change.cursor for change in store.changes()] == [at + 1]


def test_one_who_watches_sees_what_others_change_while_waiting(connect: Callable[..., Any], anywhere: Any) -> None:
    with connect() as store, bough.connect(**anywhere) as other:
        other.session("cli:before")
        cursor = store.cursor()

        def write() -> None:
            for at in range(20):
                other.session(f"cli:{at}")

        writer = threading.Timer(0.1, write)
        writer.start()
        seen = [change.session for change in store.watch(cursor, timeout=1)]
        writer.join()
        assert seen == [f"cli:{at}" for at in range(20)]


def test_one_who_watches_sees_what_the_same_store_changes(anywhere: dict[str, Any]) -> None:
    with bough.connect(**anywhere) as store:
        watched = store.watch(timeout=5)
        for at in range(3):
            store.session(f"cli:{at}")
            assert next(watched).session == f"cli:{at}"


def test_watching_a_store_in_memory_sees_its_own_changes() -> None:
    with bough.connect(":memory:") as store:
        watched = store.watch(timeout=5)
        store.session("cli:a")
        assert next(watched).kind == "created"


def test_watching_ends_when_the_store_is_closed(anywhere: dict[str, Any]) -> None:
    store = bough.connect(**anywhere)
    watched = store.watch()
    store.close()
    with pytest.raises(Refused, match="closed"):
        next(watched)


def test_one_who_watches_too_slowly_is_told(anywhere: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "KEPT", 3)
    monkeypatch.setattr(changes, "PRUNE_EVERY", 1)
    monkeypatch.setattr(changes, "PAGE", 2)
    with bough.connect(**anywhere) as store:
        watched = store.watch(0)
        store.session("cli:a")
        assert next(watched).cursor == 1
        for at in range(10):
            store.session(f"cli:{at}")
        with pytest.raises(CursorExpired):
            next(watched)
