"""Server crashes and failover: nothing is lost or duplicated."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

import bough
from bough import Store, assistant, user
from tests.ports import free_port
from tests.reliability.checks import assert_sound, steps
from tests.reliability.processes import multiprocess, run_together

from .server import Server

KILLS = 3
PATIENCE = 60


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One that keeps what it acknowledges: killing it is a test of ours, not of its settings."""
    node = Server().start()
    yield node
    node.remove()


def write(store: Store, name: str, stopped: threading.Event) -> list[str]:
    """Saves turns until it is told to stop, without idempotency keys; the names of those that were acknowledged."""
    own, shared = store.session(f"cli:{name}"), store.session("cli:shared")
    kept: list[str] = []
    while not stopped.is_set():
        turn = f"{name}.{len(kept)}"
        if len(kept) % 3 == 0:
            shared.save_turn(steps(turn, 4), wait=PATIENCE)
        elif len(kept) % 3 == 1:
            own.save_turn(steps(turn, 3, "x" * 5000))
        else:
            first, *rest = steps(turn, 4)
            with own.turn(first) as opened:
                for message in rest:
                    opened.add(message)
        kept.append(turn)
    return kept


def more_turns(store: Store) -> None:
    """Waits until somebody has saved some."""
    seen = store.size().turns
    while store.size().turns < seen + 30:
        time.sleep(0.01)


def test_a_store_survives_repeated_server_crashes(server: Server, namespace: str) -> None:
    stopped = threading.Event()
    with bough.connect(server.url, namespace=namespace, patience=PATIENCE) as store, ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, store, f"w{number}", stopped) for number in range(4)]
        try:
            for _ in range(KILLS):
                more_turns(store)
                server.kill()
                server.start()
        finally:
            stopped.set()
        kept = [turn for writer in writers for turn in writer.result()]
        found = assert_sound(store)
    assert len(kept) > 30 * KILLS / 2
    assert Counter(turn for turns in found.values() for turn in turns) == Counter(kept)


def take_part(url: str, namespace: str, name: str, turns: int) -> list[str]:
    with bough.connect(url, namespace=namespace, patience=PATIENCE) as store:
        session = store.session("cli:shared")
        for number in range(turns):
            session.save_turn(steps(f"{name}.{number}", 3), wait=PATIENCE)
    return [f"{name}.{number}" for number in range(turns)]


def test_processes_survive_a_server_crash(server: Server, namespace: str) -> None:
    done: list[list[str]] = []
    jobs = [(server.url, namespace, f"p{number}", 40) for number in range(4)]
    working = threading.Thread(target=lambda: done.extend(run_together(take_part, jobs)))
    with bough.connect(server.url, namespace=namespace, patience=PATIENCE) as store:
        working.start()
        for _ in range(2):
            seen = store.size().turns
            while working.is_alive() and store.size().turns < seen + 30:
                time.sleep(0.01)
            server.kill()
            server.start()
        working.join()
        found = assert_sound(store)
    assert Counter(found["cli:shared"]) == Counter(turn for turns in done for turn in turns)


def test_a_store_opened_while_the_server_is_down_works_after_its_restart(server: Server) -> None:
    server.kill()
    with pytest.raises(bough.StorageError, match="cannot be reached"):
        bough.connect(server.url)
    server.start()
    bough.connect(server.url).close()


def test_the_error_while_the_server_is_down_states_what_was_kept(server: Server, namespace: str) -> None:
    with bough.connect(server.url, namespace=namespace, patience=0.2) as store:
        session = store.session("cli:a")
        session.save_turn([user("one"), assistant("1")])
        server.kill()
        for verb in (session.path, lambda: session.save_turn([user("two"), assistant("2")]), lambda: store.search("x")):
            with pytest.raises(bough.StorageError, match="cannot be reached"):
                verb()
        server.start()
        assert len(session.path()) == 2
        session.save_turn([user("two"), assistant("2")])
        assert len(session.path()) == 4


def die_in_a_turn(url: str, namespace: str, pipe: Any) -> None:
    store = bough.connect(url, namespace=namespace)
    turn = store.session("cli:a").turn("unfinished")
    turn.add(assistant("half"))
    pipe.send(turn.id)
    os.kill(os.getpid(), 9)


def test_the_turn_of_a_killed_process_is_interrupted_by_the_next_writer(server: Server, namespace: str) -> None:
    mine, theirs = multiprocess.Pipe(duplex=False)
    with bough.connect(server.url, namespace=namespace) as store:
        process = multiprocess.Process(target=die_in_a_turn, args=(server.url, namespace, theirs))
        process.start()
        turn = mine.recv()
        process.join()
        store.session("cli:a").save_turn([user("next"), assistant("reply")], wait=0)
        assert {info.id: info.status for info in store.turns()}[turn] == "interrupted"
        assert [node.message.text for node in store.session("cli:a").path()] == ["next", "reply"]


def test_a_store_reconnects_to_another_server_with_the_data(server: Server, namespace: str) -> None:
    """A URL with several servers, as for a primary and the one that takes over."""
    home, next_port = server.port, free_port()
    several = f"postgresql://postgres@127.0.0.1:{home},127.0.0.1:{next_port}/postgres?target_session_attrs=read-write"
    with bough.connect(several, namespace=namespace, patience=PATIENCE) as store:
        session = store.session("cli:a")
        first = session.save_turn([user("one"), assistant("1")])
        server.kill()
        server.port = next_port
        server.start()
        second = session.save_turn([user("two"), assistant("2")])
        assert [node.id for node in session.path()] == [*first, *second]
        server.kill()
        server.port = home
        server.start()
        assert len(session.path()) == 4


def replicate(primary: Server) -> None:
    """From now on the server acknowledges only what its standby has written down too."""
    with psycopg.connect(primary.url, autocommit=True) as admin:
        while not admin.execute("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'").fetchone():
            time.sleep(0.02)
        admin.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        admin.execute("SELECT pg_reload_conf()")
        while admin.execute("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'").fetchone() is None:
            time.sleep(0.02)


@pytest.fixture
def pair() -> Iterator[tuple[Server, Server]]:
    """A primary, and a standby that may take over from it, and shows what was acknowledged."""
    primary = Server(["synchronous_commit=remote_apply"]).start()
    standby = Server(standby_of=primary).start()
    replicate(primary)
    yield primary, standby
    primary.remove()
    standby.remove()


def test_a_promoted_standby_has_everything_acknowledged_exactly_once(
    pair: tuple[Server, Server], namespace: str
) -> None:
    primary, standby = pair
    places = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
    url = f"postgresql://postgres@{places}/postgres?target_session_attrs=read-write"
    stopped = threading.Event()
    with bough.connect(url, namespace=namespace, patience=PATIENCE) as store, ThreadPoolExecutor(4) as threads:
        writers = [threads.submit(write, store, f"w{number}", stopped) for number in range(4)]
        try:
            more_turns(store)
            primary.kill()
            standby.promote()
            more_turns(store)
        finally:
            stopped.set()
        kept = [turn for writer in writers for turn in writer.result()]
        found = assert_sound(store)
    assert Counter(turn for turns in found.values() for turn in turns) == Counter(kept)


def test_a_write_to_a_standby_is_an_error(pair: tuple[Server, Server], namespace: str) -> None:
    primary, standby = pair
    with bough.connect(primary.url, namespace=namespace) as store:
        store.session("cli:a").save_turn([user("one"), assistant("1")])
    with pytest.raises(bough.Refused, match="takes no writes"):
        bough.connect(standby.url, namespace=f"{namespace}-new", patience=0.2)
    with bough.connect(standby.url, namespace=namespace, patience=0.2) as copy:
        with pytest.raises(bough.Refused, match="takes no writes"):
            copy.session("cli:a").save_turn([user("two"), assistant("2")])


def test_a_standby_is_read_and_searched_and_takes_no_writes(pair: tuple[Server, Server]) -> None:
    primary, standby = pair
    with bough.connect(primary.url, namespace="read") as store:
        store.session("cli:a").save_turn(steps("oak", 2))
        store.search("oak")  # what is not in the index yet, a standby cannot add to it
        store.session("cli:a").save_turn(steps("ash", 2))
        store.session("cli:b").turn("left open")
        with psycopg.connect(primary.url, autocommit=True) as admin:
            (place,) = admin.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
        with psycopg.connect(standby.url, autocommit=True) as look:
            while look.execute("SELECT pg_last_wal_replay_lsn() < %s", [place]).fetchone() == (True,):
                time.sleep(0.01)
        places = f"127.0.0.1:{primary.port},127.0.0.1:{standby.port}"
        url = f"postgresql://postgres@{places}/postgres?target_session_attrs=standby"
        with bough.connect(url, namespace="read", patience=1) as copy:
            assert len(copy.session("cli:a").path()) == 4
            assert len(copy.search("oak")) == 2
            assert copy.search("ash") == []
            assert copy.index() is False
            with pytest.raises(bough.Refused, match="takes no writes"):
                copy.session("cli:a").save_turn(steps("elm", 2))
        with pytest.raises(bough.Refused):
            bough.connect(standby.url, namespace="new", patience=1)
