"""Round trips of each method, and lost connections."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import psycopg
import pytest

import bough
from bough import Message, Save, Store, assistant, user

from .cluster import is_cluster
from .proxy import Proxy


@pytest.fixture
def proxy(postgres: str) -> Iterator[Proxy]:
    with Proxy(postgres) as between:
        yield between


@pytest.fixture
def store(proxy: Proxy, namespace: str) -> Iterator[Store]:
    with bough.connect(proxy.url, namespace=namespace) as opened:
        yield opened


def long_turn(messages: int) -> list[Message]:
    """Some of it in rows, some of it compressed, some of it in blobs."""
    return [user("q"), *(assistant(f"{place} " + "word " * (place % 4 * 700)) for place in range(messages))]


def skip_on_a_cluster(postgres: str) -> None:
    if is_cluster(postgres):
        pytest.skip("not tested: a cluster takes the blobs of a turn one by one")


def waits(proxy: Proxy, verb: Callable[[], object]) -> int:
    before = proxy.waits
    verb()
    return proxy.waits - before


def test_the_round_trips_of_saving_and_loading_do_not_depend_on_the_length_of_a_turn(
    proxy: Proxy, store: Store, postgres: str
) -> None:
    skip_on_a_cluster(postgres)
    session = store.session("cli:a")
    session.save_turn(long_turn(3))
    saved = [waits(proxy, lambda size=size: session.save_turn(long_turn(size))) for size in (4, 40, 400)]  # type: ignore[misc]
    loaded = waits(proxy, session.path)
    assert saved == [4, 4, 4]
    assert waits(proxy, lambda: session.save_turn([user("q"), *[assistant("short")] * 50])) == 2  # without blobs
    assert loaded == 2
    session.save_turn(long_turn(1000))
    assert waits(proxy, session.path) == loaded
    assert waits(proxy, lambda: session.path(last=3)) <= loaded + 1  # the id of the one before has to be asked for


def test_the_round_trips_of_an_add_do_not_depend_on_its_size(proxy: Proxy, store: Store, postgres: str) -> None:
    skip_on_a_cluster(postgres)
    session = store.session("cli:a")
    with session.turn("q") as turn:
        counted = [waits(proxy, lambda size=size: turn.add(long_turn(size)[1:])) for size in (4, 400)]  # type: ignore[misc]
    assert counted[0] == counted[1]


def test_forking_and_reading_a_session_take_few_round_trips(proxy: Proxy, store: Store) -> None:
    session = store.session("cli:a")
    session.save_turn(long_turn(50))
    assert waits(proxy, lambda: session.info) == 1
    few = waits(proxy, session.fork)
    session.save_turn(long_turn(50))
    assert waits(proxy, session.fork) == few


@pytest.mark.parametrize("cut", ["before", "after"])
def test_a_turn_whose_commit_answer_was_lost_is_stored_once(
    proxy: Proxy, store: Store, cut: Literal["before", "after"]
) -> None:
    session = store.session("cli:a")
    first = session.save_turn([user("one"), assistant("1")])
    proxy.cut(cut)
    second = session.save_turn([user("two"), assistant("2")])
    assert proxy.cuts == 1
    assert [node.id for node in session.path()] == [*first, *second]
    assert len(list(store.list_messages())) == 4
    assert store.verify() == []


def test_a_turn_that_was_kept_is_no_error_when_a_worker_did_not_answer_its_commit(proxy: Proxy, store: Store) -> None:
    session = store.session("cli:a")
    proxy.denies_commit = True
    ids = session.save_turn([user("one"), assistant("1")])
    assert proxy.cuts == 1
    assert [node.id for node in session.path()] == ids
    session.save_turn([user("two"), assistant("2")])
    assert len(list(store.list_messages())) == 4


def test_a_turn_survives_a_connection_lost_at_every_commit(proxy: Proxy, store: Store) -> None:
    session = store.session("cli:a")
    proxy.cut("after")
    with session.turn(user("q")) as turn:
        for place in range(4):
            proxy.cut("before" if place % 2 else "after")
            turn.add(assistant(f"{place}"))
        proxy.cut("after")
    assert proxy.cuts == 6
    assert [node.message.text for node in session.path()] == ["q", "0", "1", "2", "3"]
    assert len(list(store.list_messages())) == 5


def live(store: Store) -> None:
    """Writes in every way there is."""
    session = store.session("cli:a")
    session.save_turn(long_turn(4))
    with session.turn(user("q")) as turn:
        turn.add(assistant("step"))
        turn.sketch("half a rep")
        turn.add(assistant("reply"))
    session.record([node.message for node in session.path()] + [user("more"), assistant("yes")])
    fork = session.fork(at=session.path()[2].id, key="cli:fork")
    fork.save_turn([user("aside"), assistant("indeed")])
    store.label(session.path()[0].id, "first")
    store.save_messages([Save(user("alone"))])
    store.index()
    store.delete_session("cli:fork")
    store.restore("cli:fork")
    session.rewind()
    store.delete_messages([session.path()[-1].id], recursive=True, keep=False)


def remembered(store: Store) -> dict[str, Any]:
    """All that there is, but for ids and times."""
    paths = {info.key: [node.message for node in store.session(info.key).path()] for info in store.sessions()}
    return {
        "sessions": paths,
        "messages": [(node.message, node.label) for node in store.list_messages()],
        "turns": [(info.status, info.error) for info in store.turns()],
        "trash": [entry.reason for entry in store.trash()],
        "size": store.size(),
        "verify": store.verify(),
    }


@pytest.mark.parametrize("when", ["before", "after"])
def test_wherever_the_connection_is_lost_every_write_is_stored_once(
    postgres: str, namespace: str, proxy: Proxy, when: Literal["before", "after"]
) -> None:
    every = 31  # no verb waits as often, so each gets through between two cuts
    with bough.connect(postgres, namespace=namespace) as undisturbed:
        live(undisturbed)
        expected = remembered(undisturbed)
    for first in range(1, every + 1, 2):
        with bough.connect(proxy.url, namespace=f"{namespace}-{first}", patience=60) as store:
            before = proxy.cuts
            proxy.cut_often(first, every, when)
            live(store)
            proxy.cut_often(0, 0, when)
            assert proxy.cuts >= before + 3
            assert remembered(store) == expected, f"cut {when} wait {first}"


def test_the_error_for_an_unknown_commit_result_claims_neither_outcome(
    postgres: str, namespace: str, proxy: Proxy
) -> None:
    with bough.connect(proxy.url, namespace=namespace, patience=0.3) as store:
        session = store.session("cli:a")
        proxy.cut("after")
        proxy.is_open = False
        with pytest.raises(bough.StorageError, match="not known"):
            session.save_turn([user("one"), assistant("1")], idempotency_key="k")
        proxy.is_open = True
        session.save_turn([user("one"), assistant("1")], idempotency_key="k")
        assert len(session.path()) == 2


@pytest.mark.parametrize("others", [40, 70])
def test_the_server_remembers_recent_writes_and_none_is_stored_twice(
    postgres: str, namespace: str, proxy: Proxy, others: int
) -> None:
    """While one writer is cut off in its commit, others go on. The server remembers the last 64 writes."""
    with bough.connect(proxy.url, namespace=namespace, patience=30) as store, ThreadPoolExecutor(1) as threads:
        session = store.session("cli:a")
        proxy.cut("after")
        proxy.closes_when_cut = True
        saving = threads.submit(session.save_turn, [user("one"), assistant("1")])
        while not proxy.cuts:
            time.sleep(0.01)
        with bough.connect(postgres, namespace=namespace) as other:
            for number in range(others):
                other.session("cli:b").save_turn([user(f"{number}"), assistant("yes")])
        proxy.is_open = True
        if others < 64:
            assert len(saving.result()) == 2
        else:
            with pytest.raises(bough.StorageError, match="not known"):
                saving.result()
        assert len(session.path()) == 2


def test_a_dead_connection_is_replaced_without_an_error(postgres: str, proxy: Proxy, store: Store) -> None:
    session = store.session("cli:a")
    session.save_turn([user("one"), assistant("1")])
    proxy.hang_up()
    assert len(session.path()) == 2
    proxy.hang_up()
    assert session.info.head_id is not None
    proxy.hang_up()
    session.save_turn([user("two"), assistant("2")])
    assert len(session.path()) == 4


def test_an_unreachable_server_is_a_storage_error(proxy: Proxy, namespace: str) -> None:
    proxy.is_open = False
    with pytest.raises(bough.StorageError, match="cannot be reached"):
        bough.connect(proxy.url, namespace=namespace)


def test_an_invalid_url_is_refused_without_showing_its_password() -> None:
    with pytest.raises(bough.Invalid) as refused:
        bough.connect("postgresql://me:secret@host/db?nonsense=1")
    assert "secret" not in str(refused.value)


def test_a_statement_timeout_is_not_reported_as_a_busy_server(postgres: str, namespace: str) -> None:
    with bough.connect(postgres, namespace=namespace) as store, psycopg.connect(postgres) as other:
        other.execute("UPDATE bough.state SET writes = writes WHERE namespace = %s", [namespace])
        limited = f"{postgres}?options=-c%20statement_timeout%3D200ms"
        with bough.connect(limited, namespace=namespace, patience=30) as impatient:
            with pytest.raises(bough.StorageError, match="statement_timeout of the server or of this role"):
                impatient.session("cli:a")
        other.rollback()
        assert store.sessions() == []


def test_nothing_is_kept_of_a_transaction_that_the_server_ended_because_it_was_idle(
    postgres: str, namespace: str
) -> None:
    """The client finds the connection closed and the reason lost, so it is an error like any lost connection."""
    limited = f"{postgres}?options=-c%20idle_in_transaction_session_timeout%3D100ms"
    with bough.connect(limited, namespace=namespace, patience=1) as store:
        store.session("cli:a")

        def dawdle(_: int) -> None:
            store.db.run("set_sketch", 1, "half a reply")
            store.db.rows("search_state")
            time.sleep(0.3)
            store.db.rows("search_state")

        with pytest.raises(bough.StorageError, match="cannot be reached"):
            store.write(dawdle)
        store.session("cli:a").save_turn([user("a"), assistant("b")])
        assert store.verify() == []
        with psycopg.connect(postgres) as admin:
            kept = admin.execute("SELECT FROM bough.sketches WHERE namespace = %s", [namespace]).fetchall()
        assert kept == []
