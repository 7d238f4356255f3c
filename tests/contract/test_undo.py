"""Undoing: what was moved, deleted, titled or labelled last is taken back, unless something later would be lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import bough
from bough import Busy, Invalid, NotFound, Refused, Store, assistant, user
from bough.model.values import replace
from bough.storage import changes
from tests.contract.test_changes import since
from tests.contract.test_sessions import talk, texts


def state(store: Any) -> tuple[Any, ...]:
    """All that undoing has to give back. A revision counts moves, also those back."""
    sessions = [replace(info, revision=0, cursor=0) for info in store.sessions()]
    documents = [store.session(info.key).documents() for info in sessions]
    return list(store.list_messages()), sessions, documents, store.turns(), store.pins(), store.trash()


def told(store: Any) -> list[tuple[str, str | None, str]]:
    return [(one.verb, one.session, one.text) for one in store.undoable()]


def move(session: Any) -> None:
    session.move(None)


def rewind(session: Any) -> None:
    session.rewind()


def pop(session: Any) -> None:
    session.pop()


def compact(session: Any) -> None:
    session.compact(lambda _: "summary", keep_turns=1)


def clear(session: Any) -> None:
    session.clear()


def new(session: Any) -> None:
    session.new("Kept")


def retitle(session: Any) -> None:
    session.update(title="Elms")


def label(session: Any) -> None:
    session.store.label(session.head, "topic")


def delete_session(session: Any) -> None:
    session.store.delete_session("s")


def delete_messages(session: Any) -> None:
    session.store.delete_messages([session.path()[1].id], recursive=True)


VERBS = [move, rewind, pop, clear, new, retitle, label, delete_session, delete_messages]


class Held:
    """A session with its store, which the awaitable one has not."""

    def __init__(self, store: Any, key: str) -> None:
        self.store, self._session = store, store.session(key)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


@pytest.fixture
def session(store: Any) -> Any:
    """A session with all that a session can have, beside another one."""
    session = store.session("s", title="Oaks")
    talk(session, "a", "b")
    talk(store.session("other"), "x")
    session.put_document("todo", ["water"])
    session.pin()
    store.pin(session.path()[1].id)
    session.delegate("scout").save_turn([user("look"), assistant("found")])
    session.fork(key="fork")
    return Held(store, "s")


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_undo_gives_back_what_was_there(store: Any, session: Any, verb: Callable[[Any], None]) -> None:
    before, undoable = state(store), store.undoable()
    verb(session)
    assert state(store) != before
    done = store.undoable()[0]
    assert store.undo() == done
    assert (state(store), store.undoable(), store.verify()) == (before, undoable, [])


def test_undoing_a_compaction_leaves_the_summary_beside_the_dialog(store: Any, session: Any) -> None:
    path = session.path()
    compact(session)
    assert session.head != path[-1].id
    assert session.undo().verb == "compact"
    assert session.path() == path
    assert store.verify(unreachable=True) == []


def test_undo_after_undo_goes_further_back(store: Any, session: Any) -> None:
    states = []
    for verb in (rewind, retitle, label, pop, new):
        states.append(state(store))
        verb(session)
    for before in reversed(states):
        assert store.undo() is not None
        assert state(store) == before


def test_what_could_be_undone_is_listed_with_a_sentence(store: Store) -> None:
    session = store.session("s", title="Oaks")
    (a, b), (c, d) = talk(session, "a", "b")
    session.rewind()
    session.move(d)
    session.pop()
    session.update(title="Elms")
    store.label(a, "topic")
    store.label(a, None)
    session.move(None)
    session.move(b)
    kept = session.new()
    assert kept is not None
    store.delete_messages([c], recursive=True)
    store.delete_session(kept.key)
    assert told(store) == [
        ("delete", None, f"Deleted session {kept.key!r}"),
        ("delete", "s", f"Deleted messages {c!r}"),
        ("new", "s", "Started afresh in session 's'"),
        ("move", "s", f"Moved session 's' from before the first message to {b!r}"),
        ("move", "s", "Moved session 's' from a deleted message to before the first message"),
        ("label", "s", f"Gave message {a!r} no label"),
        ("label", "s", f"Gave message {a!r} the label 'topic'"),
        ("title", "s", "Gave session 's' the title 'Elms'"),
        ("pop", "s", "Took message a deleted message off session 's'"),
        ("move", "s", f"Moved session 's' from {b!r} to a deleted message"),
        ("rewind", "s", f"Rewound session 's' from a deleted message to {b!r}"),
    ]
    assert len(store.undoable(limit=2)) == 2
    with pytest.raises(Invalid):
        store.undoable(limit=-1)


def test_with_nothing_to_undo_there_is_none_and_nothing_changes(store: Store) -> None:
    session = store.session("s")
    assert (store.undo(), session.undo(), store.undoable(), session.undoable()) == (None, None, [], [])
    ((first, _),) = talk(session, "a")
    session.move(session.head)
    store.label(first, None)
    session.clear()
    store.purge()
    store.delete_messages(store.session("t").save_turn([user("a"), assistant("b")]), recursive=True, keep=False)
    cursor = store.cursor()
    assert (store.undo(), store.cursor()) == (None, cursor)


def test_a_session_undoes_its_own_and_the_store_undoes_all(store: Store) -> None:
    one, two = store.session("one"), store.session("two")
    talk(one, "a")
    ((first, _),) = talk(two, "b")
    one.rewind()
    store.label(first, "topic")
    two.rewind()
    assert [done.verb for done in one.undoable()] == ["rewind"]
    assert [done.verb for done in two.undoable()] == ["rewind", "label"]
    assert one.undo().session == "one"  # type: ignore[union-attr]
    assert (texts(one), texts(two)) == (["a", "A"], [])
    with pytest.raises(NotFound):
        one.undo(two.undoable()[0].cursor)
    assert two.undo(two.undoable()[1].cursor).verb == "label"  # type: ignore[union-attr]
    assert store.get_messages([first])[0].label is None
    assert [done.session for done in store.undoable()] == ["two"]


def test_undoing_is_a_change_like_any(store: Store) -> None:
    session = store.session("s")
    ((first, last),) = talk(session, "a")
    session.rewind()
    session.update(title="Elms")
    store.label(first, "topic")
    store.delete_messages([last])
    cursor = store.cursor()
    for _ in range(4):
        store.undo()
    assert since(store, cursor) == [
        ("restored", None, last), ("labelled", None, first), ("updated", "s", None), ("moved", "s", last),
    ]  # fmt: skip


# What would be lost -------------------------------------------------------------------------------------------------


def refused(store: Any, why: str) -> None:
    """The newest entry is refused, and nothing has changed."""
    before, undoable, cursor = state(store), store.undoable(), store.cursor()
    with pytest.raises(Refused, match=why):
        store.undo()
    assert (state(store), store.undoable(), store.cursor()) == (before, undoable, cursor)


@pytest.mark.parametrize("verb", [move, rewind, pop, clear, new, delete_messages, compact], ids=lambda v: v.__name__)
def test_what_was_said_since_is_not_lost(
    store: Any, session: Any, verb: Callable[[Any], None], anywhere: dict[str, Any]
) -> None:
    verb(session)
    with bough.connect(**anywhere) as other:
        talk(other.session("s"), "since")
    refused(store, "gone on since")
    assert texts(store.session("s"))[-2:] == ["since", "SINCE"]


def test_a_title_or_a_label_that_was_changed_since_is_not_lost(store: Any, session: Any) -> None:
    retitle(session)
    label(session)
    store.label(session.head, "other")
    session.update(title="Other")
    _, newer, labelled, titled = store.undoable()[:4]
    assert [newer.verb, labelled.verb, titled.verb] == ["label", "label", "title"]
    for older, why in ((labelled, "another label"), (titled, "another title")):
        with pytest.raises(Refused, match=why):
            store.undo(older.cursor)
    assert session.info.title == "Other"


def test_what_was_purged_or_restored_is_not_undone(store: Any, session: Any) -> None:
    delete_session(session)
    store.restore("s")
    assert store.undoable() == []
    delete_session(session)
    store.purge()
    assert (store.undoable(), store.undo()) == ([], None)


def test_a_session_that_was_made_again_is_not_lost(store: Any, session: Any) -> None:
    delete_session(session)
    talk(store.session("s"), "again")
    refused(store, "There is a session 's' again")
    assert texts(store.session("s")) == ["again", "AGAIN"]


def test_a_move_whose_former_place_was_deleted_is_refused(store: Any, session: Any) -> None:
    left = session.head
    session.rewind()
    store.delete_session("fork")
    store.delete_messages([left])
    moved = store.undoable()[2]
    with pytest.raises(Refused, match="where it stood was deleted"):
        store.undo(moved.cursor)
    store.undo()
    assert store.undo(moved.cursor).verb == "rewind"
    assert session.head == left


def test_a_session_in_a_turn_is_busy(store: Any, session: Any) -> None:
    session.rewind()
    with session.turn("question") as turn:
        with pytest.raises(Busy):
            store.undo()
        turn.add(assistant("answer"))


def test_what_new_kept_is_not_lost_when_it_was_used(store: Any, session: Any) -> None:
    new(session)
    kept = next(info.key for info in store.sessions() if info.title == "Kept")
    store.session(kept).put_document("todo", ["other"])
    refused(store, "used since")
    store.delete_session(kept)
    with pytest.raises(Refused, match="used since"):
        store.undo(store.undoable()[1].cursor)


def test_undoing_the_deletion_of_a_message_below_another_one_that_is_gone_is_refused(store: Store) -> None:
    session = store.session("s")
    ((first, last),) = talk(session, "a")
    store.delete_messages([last])
    store.delete_messages([first])
    newer, older = store.undoable()
    with pytest.raises(Refused, match="gone on since"):
        store.undo(older.cursor)
    for done in (newer, older):
        assert store.undo(done.cursor) == done
    assert texts(session) == ["a", "A"]


def test_an_entry_is_undone_once(store: Any, session: Any) -> None:
    rewind(session)
    cursor = store.undo().cursor
    with pytest.raises(NotFound):
        store.undo(cursor)
    rewind(session)
    assert store.undoable()[0].cursor > cursor


def test_old_entries_are_pruned_as_changes_are(connect: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "KEPT", 3)
    monkeypatch.setattr(changes, "PRUNE_EVERY", 1)
    with connect() as store:
        session = store.session("s")
        for at in range(9):
            session.update(title=str(at))
        assert [done.text[-3:] for done in store.undoable()] == ["'8'", "'7'", "'6'"]


def test_a_copy_has_a_history_of_its_own(anywhere: dict[str, Any]) -> None:
    with bough.connect(**anywhere) as store, bough.connect(":memory:") as target:
        talk(store.session("s"), "a")
        store.session("s").rewind()
        store.copy_to(target)
        assert target.undoable() == []
        store.undo()
        store.copy_to(target)
        assert texts(target.session("s")) == ["a", "A"]
