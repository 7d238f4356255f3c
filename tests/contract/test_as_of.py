"""Reads as of a time: the trees, the sessions and the dialogs as they were."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bough import Invalid, Session, Store, assistant, user
from bough.model.imported import Conversation, ImportedMessage
from bough.storage import changes
from tests.contract.test_sessions import talk, texts


def now(store: Store) -> int:
    """The time of the newest change, after the last of its messages."""
    return max([store.changes()[-1].at, *(node.created_at for node in store.list_messages(limit=1))])


def then(session: Session, time: int) -> list[str]:
    return [node.message.text for node in session.path(as_of=time)]


def test_a_dialog_is_read_as_of_any_time(store: Store) -> None:
    session = store.session("s")
    times, dialogs = [now(store)], [texts(session)]

    def note() -> None:
        times.append(now(store))
        dialogs.append(texts(session))

    _, second = talk(session, "a", "b")
    note()
    session.rewind()
    note()
    with session.turn("c") as turn:
        turn.add(assistant("C"))
        note()
    note()
    session.move(second[0])
    note()
    session.move(None)
    note()
    session.append([user("d")])
    note()
    session.append([assistant("D")])
    note()
    session.compact(lambda _: "summary", keep_turns=1)
    note()
    with pytest.raises(RuntimeError), session.turn("e") as turn:
        turn.add(assistant("E"))
        note()
        raise RuntimeError("no")
    note()
    for time, dialog in zip(times, dialogs, strict=True):
        assert then(session, time) == dialog
    assert then(session, times[0] - 1) == []
    assert then(session, now(store) + 1) == texts(session)


def test_a_dialog_that_was_cleared_is_empty_as_of_then(store: Store) -> None:
    session = store.session("s")
    talk(session, "a")
    session.clear()
    time = now(store)
    talk(session, "b")
    assert (then(session, time), then(session, now(store))) == ([], ["b", "B"])


def test_the_last_words_of_a_path_are_read_as_of_a_time(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    time = now(store)
    talk(session, "c")
    assert [node.message.text for node in session.path(1, as_of=time)] == ["B"]


def test_a_tree_is_read_as_of_any_time(store: Store) -> None:
    session = store.session("s")
    first, _ = talk(session, "a", "b")
    time = now(store)
    session.rewind()
    talk(session, "c")
    talk(store.session("later"), "d")
    assert [node.message.text for node in store.children(first[1], as_of=time)] == ["b"]
    assert [tree.node.message.text for tree in store.forest(as_of=time)] == ["a"]
    assert len(list(store.forest(first[0], as_of=time)[0].walk())) == 4
    (tree,) = store.outline(as_of=time, limit=1)
    assert [(part.node.words, part.node.sessions) for _, part in tree.walk()] == [
        ("a", ()), ("A", ()), ("b", ()), ("B", ("s",)),
    ]  # fmt: skip
    (run,) = store.segments(as_of=time)
    assert (run.node.messages, run.node.last.sessions, run.children) == (4, ("s",), [])
    assert [branch.last.words for branch in session.branches(as_of=time)] == ["B"]
    assert (store.outline(as_of=0), store.segments(as_of=0)) == ([], [])


def test_sessions_are_listed_as_of_a_time_in_the_order_of_then(store: Store) -> None:
    one, other = store.session("one"), store.session("other")
    talk(one, "a")
    (last,) = talk(other, "b")
    time = now(store)
    talk(one, "c")
    talk(store.session("later"), "d")
    assert [info.key for info in store.sessions(as_of=time)] == ["other", "one"]
    assert [info.key for info in store.sessions(as_of=time, limit=1)] == ["other"]
    assert store.sessions(as_of=time)[0].head_id == last[1]
    assert store.find_session("later", as_of=time) is None
    before = store.sessions(as_of=time)[0].updated - timedelta(days=1)
    assert store.sessions(as_of=before) == []
    with pytest.raises(Invalid):
        store.sessions(as_of=time, before=1)
    with pytest.raises(Invalid, match="seconds"):
        store.sessions(as_of=1_700_000_000)


def test_before_the_oldest_change_that_is_kept_the_turns_say_where_a_session_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "KEPT", 1)
    monkeypatch.setattr(changes, "PRUNE_EVERY", 1)
    session = store.session("s")
    talk(session, "a")
    time = now(store)
    talk(session, "b", "c")
    assert len(store.changes()) <= 2
    assert then(session, time) == ["a", "A"]


def test_an_imported_dialog_has_the_past_of_its_own_times(store: Store) -> None:
    start = 1_700_000_000_000_000
    words = [user("q"), assistant("a"), user("q2"), assistant("a2")]
    items = [
        ImportedMessage(str(at), message, str(at - 1) if at else None, start + 10 * at)
        for at, message in enumerate(words)
    ]
    store.bring_in(Conversation("test", "c1", items, key="imported", head="3"))
    assert then(store.session("imported"), start + 15) == ["q", "a"]
