"""Messages and sessions by label."""

from __future__ import annotations

import pytest

from bough import Invalid, Save, Store, assistant, user
from tests.contract.test_sessions import talk

ODD = "odd \0 \ud800 label"


def test_labels_are_counted_the_most_frequent_first(store: Store) -> None:
    assert store.labels() == {}
    store.save_messages([Save(user(str(n)), label=label) for n, label in enumerate(["b", "a", "a", ODD, None])])
    store.session("s").delegate("helper", "run").save_turn([user("go"), assistant("done")])
    assert list(store.labels(subagents=False).items()) == [("a", 2), (ODD, 1), ("b", 1)]
    assert store.labels()["subagent:helper:run"] == 2


def test_messages_with_a_label_are_listed_in_both_orders(store: Store) -> None:
    ids = store.save_messages([Save(user(str(n)), label="even" if n % 2 == 0 else ODD) for n in range(450)])
    for label, expected in (("even", ids[::2]), (ODD, ids[1::2]), ("no", [])):
        assert [node.id for node in store.list_messages(label=label)] == expected[::-1]
        assert [node.id for node in store.list_messages(label=label, ascending=True)] == expected
        assert [node.id for node in store.list_messages(offset=1, limit=3, label=label)] == expected[::-1][1:4]
    with pytest.raises(Invalid, match="limit"):
        store.list_messages(limit=-1, label="even")


def test_sessions_with_a_label_on_their_path_are_listed(store: Store) -> None:
    session = store.session("cli:one")
    (first, second) = talk(session, "one", "two")
    fork = session.fork(at=first[1], key="cli:early")
    talk(store.session("cli:other"), "three")
    store.label(first[0], "topic")
    store.label(second[0], ODD)
    assert [info.key for info in store.sessions(label="topic")] == [fork.key, session.key]
    assert [info.key for info in store.sessions(label=ODD)] == [session.key]
    assert [info.key for info in store.sessions(label="topic", limit=1)] == [fork.key]
    assert store.sessions(label="nothing") == store.sessions(label="topic", channel="telegram") == []
    store.delete_session(session.key)
    assert store.sessions(label=ODD) == []
    store.restore(session.key)
    assert [info.key for info in store.sessions(label=ODD)] == [session.key]
