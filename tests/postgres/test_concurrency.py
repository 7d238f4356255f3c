"""Concurrent sessions of one store over several connections."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import LiteralString

import psycopg
import pytest

import bough
from bough import aio, assistant, user
from bough.storage import leases

from .cluster import is_cluster

SESSIONS = 64


def test_sixty_four_sessions_of_one_awaitable_store_use_several_connections(postgres: str, namespace: str) -> None:
    async def converse(store: aio.AsyncStore, number: int) -> list[str]:
        session = await store.session(f"telegram:{number}")
        for turn in range(3):
            async with session.turn(f"{number} asks {turn}") as opened:
                await opened.add(assistant(f"{turn} for {number}"))
        return [node.message.text for node in await session.path()]

    async def run() -> tuple[list[list[str]], int]:
        url = f"{postgres}?namespace={namespace}&application_name={namespace}"
        async with await aio.connect(url, connections=8) as store:
            dialogs = await asyncio.gather(*(converse(store, number) for number in range(SESSIONS)))
            return dialogs, connections_of(postgres, namespace)

    dialogs, connections = asyncio.run(run())
    assert dialogs == [
        [text for turn in range(3) for text in (f"{number} asks {turn}", f"{turn} for {number}")]
        for number in range(SESSIONS)
    ]
    assert 1 < connections <= 8


def connections_of(url: str, application: str, state: LiteralString = "true") -> int:
    with psycopg.connect(url) as admin:
        mine: LiteralString = "SELECT 1 FROM pg_stat_activity WHERE application_name = %s AND "
        return len(admin.execute(mine + state, [application]).fetchall())


def test_a_writer_does_not_wait_for_another_namespace(postgres: str, namespace: str) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        inside.set()
        assert done.wait(30)

    with (
        bough.connect(postgres, namespace=namespace) as slow,
        bough.connect(postgres, namespace=f"{namespace}2") as quick,
    ):
        with ThreadPoolExecutor(1) as threads:
            holding = threads.submit(slow.write, hold)
            assert inside.wait(30)
            quick.session("cli:a").save_turn([user("a"), assistant("b")])
            done.set()
            holding.result()


def test_a_writer_that_waits_too_long_is_busy_and_nothing_was_written(postgres: str, namespace: str) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        store.db.rows("search_state")  # the queue has been passed
        inside.set()
        assert done.wait(30)

    with bough.connect(postgres, namespace=namespace) as store, ThreadPoolExecutor(1) as threads:
        store.session("cli:a")
        holding = threads.submit(store.write, hold)
        assert inside.wait(30)
        with bough.connect(postgres, namespace=namespace, patience=0.2) as other:  # opening it does not wait
            with pytest.raises(bough.Busy):
                other.session("cli:a").save_turn([user("a"), assistant("b")], wait=0)
        done.set()
        holding.result()
        assert list(store.list_messages()) == []


def test_readers_do_not_wait_for_writers(postgres: str, namespace: str) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        store.db.rows("search_state")
        inside.set()
        assert done.wait(30)

    with bough.connect(postgres, namespace=namespace) as store, ThreadPoolExecutor(1) as threads:
        session = store.session("cli:a")
        session.save_turn([user("a"), assistant("b")])
        holding = threads.submit(store.write, hold)
        assert inside.wait(30)
        assert len(session.path()) == 2
        done.set()
        holding.result()


def test_a_call_waits_for_a_free_connection_and_then_raises_busy(postgres: str, namespace: str) -> None:
    inside, done = threading.Event(), threading.Event()

    def hold(_: int) -> None:
        inside.set()
        assert done.wait(30)

    with (
        bough.connect(postgres, namespace=namespace, connections=1, patience=0.2) as store,
        ThreadPoolExecutor(1) as threads,
    ):
        holding = threads.submit(store.write, hold)
        assert inside.wait(30)
        with pytest.raises(bough.Busy, match="connections"):
            store.find_session("cli:a")
        done.set()
        holding.result()
        assert store.find_session("cli:a") is None


def test_the_lease_of_another_machine_is_held_until_it_expires(postgres: str, namespace: str) -> None:
    """Machines may have the same name: only time ends a lease that a process of another machine holds."""
    now = 1_000_000
    with bough.connect(postgres, namespace=namespace, clock=lambda: now) as store:
        session = store.session("cli:a")
        turn = session.turn("from afar", lease=60)
        state = leases.session_state(store.db, "cli:a")
        assert state.lease_turn is not None
        assert state.lease_owner is not None
        held, (host, _, rest) = state.lease_turn, state.lease_owner.split("@", 2)
        elsewhere = f"{host}@another-boot@{rest}"
        store.write(lambda now: leases.take(store.db, state.n, held, elsewhere, now, 60))
        with pytest.raises(bough.Busy):
            session.save_turn([user("a"), assistant("b")], wait=0)
        assert store.verify() == []
        now += 61_000_000
        session.save_turn([user("a"), assistant("b")], wait=0)
        assert [info.status for info in session.turns()] == ["complete", "interrupted"]
        with pytest.raises(bough.Conflict):
            turn.add(assistant("too late"))
        turn.interrupt()


def test_a_transaction_in_a_deadlock_is_retried(postgres: str, namespace: str) -> None:
    if is_cluster(postgres):
        pytest.skip("not tested: the workers wait, and which of two sessions they give up cannot be arranged from here")
    url = f"{postgres}?namespace={namespace}&application_name={namespace}"
    with bough.connect(url) as store, psycopg.connect(postgres) as other:
        session = store.session("cli:a")
        other.execute("SET deadlock_timeout = '30s'")  # so that bough is the one whom the server gives up
        other.execute("SELECT 1 FROM bough.sessions WHERE namespace = %s FOR UPDATE", [namespace])
        with ThreadPoolExecutor(1) as threads:
            saving = threads.submit(session.save_turn, [user("a"), assistant("b")])
            while not connections_of(postgres, namespace, "wait_event_type = 'Lock'"):
                time.sleep(0.01)
            other.execute("SELECT 1 FROM bough.state WHERE namespace = %s FOR UPDATE", [namespace])
            other.rollback()
            assert len(saving.result()) == 2
        assert len(session.path()) == len(list(store.list_messages())) == 2


@pytest.mark.parametrize("code", ["40001", "40P01", "57P01"])
def test_a_transaction_aborted_by_the_server_is_retried_and_stored_once(
    postgres: str, namespace: str, code: str
) -> None:
    """The server itself raises the error, in the middle of the transaction, after something was written."""
    with bough.connect(postgres, namespace=namespace) as store:
        session, tries = store.session("cli:a"), []

        def work(now: int) -> None:
            tries.append(now)
            store.db.run("set_sketch", 1, f"try {len(tries)}")
            if len(tries) < 3:
                command = f"DO $$ BEGIN RAISE EXCEPTION 'given up' USING ERRCODE = '{code}'; END $$"
                store.db._current()._connection.execute(command).fetchone()  # type: ignore[attr-defined]

        store.write(work)
        assert len(tries) == 3
        assert store.db.rows("sketch", 1) == [("try 3",)]
        assert session.path() == []


@pytest.mark.parametrize("code", ["23505", "42P01", "22003"])
def test_a_permanent_error_is_not_retried_and_is_rolled_back(postgres: str, namespace: str, code: str) -> None:
    with bough.connect(postgres, namespace=namespace) as store:
        tries = []

        def work(now: int) -> None:
            tries.append(now)
            store.db.run("set_sketch", 1, "half")
            command = f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{code}'; END $$"
            store.db._current()._connection.execute(command).fetchone()  # type: ignore[attr-defined]

        with pytest.raises(bough.BoughError):
            store.write(work)
        assert len(tries) == 1
        assert store.db.rows("sketch", 1) == []
        store.session("cli:a").save_turn([user("a"), assistant("b")])


def test_what_a_turn_executes_is_planned_once(postgres: str, namespace: str) -> None:
    """The planner would plan the state of a session anew for every turn, which took longer than the turn."""
    with bough.connect(postgres, namespace=namespace, connections=1) as store:
        session = store.session("cli:plans")
        for _ in range(12):
            session.save_turn([user("How old is the oak?"), assistant("About 210 years.")])
        with store.db._server.pool.connection() as connection:  # type: ignore[attr-defined]
            plans = connection.execute(
                "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE '%lease_until%'"
            ).fetchall()
    assert plans
    assert all(generic > 0 and custom == 0 for generic, custom in plans)
