"""Many processes and threads on one file and one session: no error, no loss, no interleaving."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import apsw
import pytest

import bough
from bough import Save, Store, assistant, user
from bough.db import StrPath
from bough.db.migrations import SCHEMA, VERSION
from bough.db.sqlite.driver import SQLite
from bough.locations import is_server_url
from bough.storage import leases

from .checks import assert_sound, reopened, steps, turns_on
from .processes import PATIENCE, multiprocess, run_alone, run_together

WRITERS = 8
T = TypeVar("T")


# Writers -------------------------------------------------------------------------------------------------------------


def save_turns(path: StrPath, key: str, name: str, count: int) -> list[str]:
    with bough.connect(path, patience=60) as store:
        session = store.session(key)
        for number in range(count):
            session.save_turn(steps(f"{name}.{number}", 2 + number % 3), wait=60)
    return [f"{name}.{number}" for number in range(count)]


def hold_turns(path: StrPath, key: str, name: str, count: int) -> list[str]:
    with bough.connect(path, patience=60) as store:
        session = store.session(key)
        for number in range(count):
            first, *rest = steps(f"{name}.{number}", 4)
            with session.turn(first, wait=60) as turn:
                for message in rest:
                    time.sleep(random.uniform(0, 0.002))
                    turn.add(message)
    return [f"{name}.{number}" for number in range(count)]


def mixed_work(path: StrPath, name: str, count: int) -> list[str]:
    """Everything else that writes, beside turns in a session of its own."""
    with bough.connect(path, patience=60) as store:
        session = store.session(f"cli:{name}")
        for number in range(count):
            session.save_turn(steps(f"{name}.{number}", 2, "x" * 5000))
            (id_,) = store.save_messages([Save(user(f"aside of {name}"))])
            store.label(id_, name)
            store.delete_messages([id_])
            store.restore(id_)
            store.delete_messages([id_], keep=False)
            assert store.search(f"{name}.{number}", session=session.key)
            fork = session.fork()
            assert fork.path() == session.path()
            store.delete_session(fork.key, keep=False)
    return [f"{name}.{number}" for number in range(count)]


def fewer(path: StrPath, count: int) -> int:
    """On a server every turn takes longer, and as many prove no more."""
    return count // 3 if is_server_url(path) else count


def assert_in_order(found: list[str], said: list[list[str]]) -> None:
    """Every turn of every writer is there, each writer's in its own order."""
    assert len(found) == sum(map(len, said))
    for turns in said:
        mine = set(turns)
        assert [turn for turn in found if turn in mine] == turns


def test_eight_processes_write_one_store_without_loss(somewhere: StrPath) -> None:
    path = somewhere
    said = run_together(save_turns, [(path, f"cli:{n}", f"w{n}", fewer(path, 60)) for n in range(WRITERS)])
    assert reopened(path) == {f"cli:{n}": turns for n, turns in reversed(list(enumerate(said)))}


def test_eight_processes_save_turns_in_one_session_without_loss_or_interleaving(somewhere: StrPath) -> None:
    path = somewhere
    said = run_together(save_turns, [(path, "cli:one", f"w{n}", fewer(path, 40)) for n in range(WRITERS)])
    assert_in_order(reopened(path)["cli:one"], said)


def test_eight_processes_lease_turns_of_one_session_without_loss_or_interleaving(somewhere: StrPath) -> None:
    path = somewhere
    said = run_together(hold_turns, [(path, "cli:one", f"w{n}", 6) for n in range(WRITERS)])
    assert_in_order(reopened(path)["cli:one"], said)


def ignore(*_: object) -> bool:
    return False


def test_writers_that_ignore_the_lease_are_detected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a turn checks once more that its session is where the turn left it."""
    path = tmp_path / "a.db"
    monkeypatch.setattr(leases, "is_leased", ignore)
    monkeypatch.setattr(leases, "renew", ignore)
    with pytest.raises(AssertionError, match="moved on while turn"):
        run_together(hold_turns, [(path, "cli:one", f"w{n}", 6) for n in range(4)])
    monkeypatch.undo()
    reopened(path)


def test_whole_turns_and_leased_turns_share_one_session(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    said = run_together(hold_turns, [(path, "cli:one", f"h{n}", 5) for n in range(3)])
    said += run_together(save_turns, [(path, "cli:one", f"s{n}", 10) for n in range(3)])
    assert_in_order(reopened(path)["cli:one"], said)


def test_eight_processes_with_mixed_operations_do_not_interfere(somewhere: StrPath) -> None:
    path = somewhere
    said = run_together(mixed_work, [(path, f"w{n}", fewer(path, 6)) for n in range(WRITERS)])
    found = reopened(path)
    assert found == {f"cli:w{n}": turns for n, turns in enumerate(said)}
    with bough.connect(path) as store:
        assert store.trash() == []


def read_while(path: StrPath, rounds: int) -> int:
    """Reads as fast as it can; fails for a half turn. Says how many turns it saw grow."""
    seen = 0
    with bough.connect(path, patience=60) as store:
        for _ in range(rounds):
            turns = turns_on(store.session("cli:one").path())
            assert len(turns) >= seen
            seen = len(turns)
            assert len(list(store.list_messages(limit=10))) <= 10
    return seen


def work_of(kind: str, path: StrPath) -> int:
    return read_while(path, 100) if kind == "read" else len(hold_turns(path, "cli:one", kind, 15))


def test_readers_never_see_a_partial_turn(somewhere: StrPath) -> None:
    path = somewhere
    bough.connect(path).close()
    run_together(work_of, [("read", path), ("w0", path), ("read", path), ("w1", path)])
    assert len(reopened(path)["cli:one"]) == 30


# Opening -------------------------------------------------------------------------------------------------------------


def open_and_say(path: Path, name: str) -> str:
    with bough.connect(path, patience=60) as store:
        (id_,) = store.save_messages([Save(user(name))])
    return id_


def test_ten_processes_opening_a_new_file_at_once_all_succeed(tmp_path: Path) -> None:
    for number in range(8):
        path = tmp_path / f"{number}.db"
        ids = run_together(open_and_say, [(path, f"w{n}") for n in range(10)])
        with bough.connect(path) as store:
            assert [node.message.text for node in store.get_messages(ids)] == [f"w{n}" for n in range(10)]
            assert store.verify() == []


def later_migrations(directory: Path) -> Path:
    """The migrations of an invented bough that is two versions ahead."""
    directory.mkdir()
    for step in (Path(SCHEMA) / "migrations").glob("*.sqlite.sql"):
        (directory / step.name).write_bytes(step.read_bytes())
    (directory / f"{VERSION + 1:04}-invented.sqlite.sql").write_text(
        "CREATE TABLE invented (n INTEGER PRIMARY KEY) STRICT;"
    )
    (directory / f"{VERSION + 2:04}-counted.sqlite.sql").write_text("INSERT INTO invented SELECT max(n) FROM messages;")
    return directory


def open_migrated(path: Path, migrations: Path) -> int:
    with Store(SQLite(path, patience=60, migrations=migrations)) as store:
        store.session("cli:a").save_turn(steps(f"p{os.getpid()}", 2), wait=60)
    return os.getpid()


def test_eight_processes_migrating_one_file_at_once_migrate_it_once(tmp_path: Path) -> None:
    migrations = later_migrations(tmp_path / "migrations")
    for number in range(4):
        path = tmp_path / f"{number}.db"
        with bough.connect(path) as store:
            store.session("cli:a").save_turn(steps("old", 2))
        pids = run_together(open_migrated, [(path, migrations)] * WRITERS)
        connection = apsw.Connection(str(path))
        assert connection.execute("SELECT count(*) FROM invented").get == 1
        assert connection.pragma("user_version") == VERSION + 2
        connection.close()
        with Store(SQLite(path, migrations=migrations)) as store:
            turns = assert_sound(store)["cli:a"]
        assert turns[0] == "old"
        assert sorted(turns[1:]) == sorted(f"p{pid}" for pid in pids)
        assert [backup.name for backup in tmp_path.glob(f"{number}.db.*backup")] == [f"{number}.db.v{VERSION}.backup"]


# Fairness and patience -----------------------------------------------------------------------------------------------


def write_for(path: Path, name: str, seconds: float) -> int:
    with bough.connect(path, patience=60) as store:
        session = store.session(f"cli:{name}")
        until = time.monotonic() + seconds
        done = 0
        while time.monotonic() < until:
            session.save_turn(steps(f"{name}.{done}", 2))
            done += 1
    return done


def test_eight_writers_wait_fairly(tmp_path: Path) -> None:
    """The slowest gets at least a quarter of the fastest one's turns. A busy machine is asked again."""
    shares = []
    for number in range(3):
        turns = run_together(write_for, [(tmp_path / f"{number}.db", f"w{n}", 2.0) for n in range(WRITERS)])
        shares.append(min(turns) / max(turns))
        if shares[-1] >= 0.25:
            return
    pytest.fail(f"the slowest got only these shares of the fastest one's turns: {shares}")


@contextmanager
def other_writer(path: Path) -> Iterator[Callable[[], None]]:
    """Another process. Call what this gives, and it is stopped, with SIGSTOP, in the middle of a transaction."""
    go, done = os.pipe(), os.pipe()

    def wait_inside() -> None:
        os.write(done[1], b"!")
        signal.pause()

    def hold() -> None:
        os.read(go[0], 1)
        SQLite(path).transact(wait_inside)

    process = multiprocess.Process(target=hold, daemon=True)
    process.start()

    def stop() -> None:
        os.write(go[1], b"!")
        os.read(done[0], 1)
        os.kill(process.pid or 0, signal.SIGSTOP)

    try:
        yield stop
    finally:
        process.kill()
        process.join()
        for end in (*go, *done):
            os.close(end)


def test_a_writer_suspended_in_a_transaction_makes_others_raise_busy(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save_turns(path, "cli:a", "before", 1)

    def try_to_write() -> list[str]:
        said = []
        works: list[Callable[[Store], object]] = [
            lambda store: store.session("cli:a").save_turn(steps("x", 2), wait=0),
            lambda store: store.session("cli:a").turn(user("x"), wait=0),
            lambda store: store.session("cli:a").record(steps("x", 2), wait=0),
            lambda store: store.save_messages([Save(user("x"))]),
            lambda store: store.session("cli:new"),
            lambda store: store.label(store.session("cli:a").head or "", "x"),
        ]
        for work in works:
            try:
                work(waiting)
            except bough.Busy as busy:
                said.append(busy.code)
        return said

    with other_writer(path) as stop:
        waiting = bough.connect(path, patience=0.2)
        stop()
        assert try_to_write() == ["busy"] * 6
        assert turns_on(waiting.session("cli:a").path()) == ["before.0"]  # readers are not disturbed
        with bough.connect(path, patience=0.2) as reader:  # nor are those that open the file
            assert turns_on(reader.session("cli:a").path()) == ["before.0"]
    waiting.session("cli:a").save_turn(steps("after", 2))  # it was killed, and its transaction with it
    waiting.close()
    assert reopened(path) == {"cli:a": ["before.0", "after"]}


class Counting(SQLite):
    """Counts how often a write began to wait for the file."""

    tries = 0

    def transact(self, work: Callable[[], T]) -> T:
        self.tries += 1
        return super().transact(work)


def test_the_waits_for_a_session_and_for_the_file_add_up(tmp_path: Path) -> None:
    """A turn may wait for its session and a write for the file; both together is their sum, not their product."""
    path = tmp_path / "a.db"
    save_turns(path, "cli:a", "before", 1)
    with other_writer(path) as stop, Store(db := Counting(path, patience=0.4)) as store:
        stop()
        with pytest.raises(bough.Busy):
            store.session("cli:a").save_turn(steps("x", 2), wait=1)
    assert db.tries <= 4, f"it waited {db.tries} times for the file"


# Forks and threads ---------------------------------------------------------------------------------------------------


def test_after_a_process_fork_parent_and_child_can_use_the_store(somewhere: StrPath) -> None:
    path = somewhere
    with bough.connect(path) as store:
        session = store.session("cli:a")
        session.save_turn(steps("before", 2))

        def child() -> list[str]:
            session.save_turn(steps("child", 3))
            with session.turn(steps("held", 3)[0]) as turn:
                turn.add(steps("held", 3)[1:])
            found = turns_on(session.path())
            store.close()
            return found

        assert run_alone(child) == ["before", "child", "held"]
        session.save_turn(steps("after", 2))
        assert assert_sound(store) == {"cli:a": ["before", "child", "held", "after"]}
    assert reopened(path) == {"cli:a": ["before", "child", "held", "after"]}


def come_and_go(path: Path) -> None:
    with bough.connect(path) as store:
        store.session("cli:other").save_turn(steps(f"other{random.random()}", 2))


def test_writes_of_a_daemon_whose_parent_exited_are_durable(tmp_path: Path) -> None:
    """Its parent's locks go with the parent: the daemon needs its own, or others delete the WAL under it."""
    path = tmp_path / "a.db"
    read, write = os.pipe()

    def parent() -> None:
        store = bough.connect(path)
        session = store.session("cli:a")
        session.save_turn(steps("parent", 2))
        if os.fork() == 0:
            for number in range(60):
                session.save_turn(steps(f"d{number}", 2))
                os.write(write, b"d%d\n" % number)
                time.sleep(0.005)
            os._exit(0)
        os._exit(0)

    process = multiprocess.Process(target=parent)
    process.start()
    process.join()
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = []
        for line in pipe:
            said.append(line.decode().strip())
            if len(said) % 10 == 0:
                run_alone(come_and_go, path)  # the last one to close a WAL empties and deletes it
    assert said == [f"d{number}" for number in range(60)]
    assert reopened(path)["cli:a"] == ["parent", *said]


def test_a_child_process_forked_during_a_write_can_use_the_store(somewhere: StrPath) -> None:
    path = somewhere
    with bough.connect(path) as store:
        session = store.session("cli:a")
        going = threading.Event()

        def write() -> None:
            for number in range(200):
                session.save_turn(steps(f"t{number}", 2))
                going.set()

        thread = threading.Thread(target=write)
        thread.start()
        going.wait(PATIENCE)
        for number in range(5):
            run_alone(lambda name: session.save_turn(steps(name, 2), wait=60), f"child{number}")
        thread.join()
        found = assert_sound(store)["cli:a"]
    assert_in_order(found, [[f"t{n}" for n in range(200)], [f"child{n}" for n in range(5)]])


def test_a_child_of_a_killed_writer_does_not_hold_the_lock(tmp_path: Path) -> None:
    """A lock that a process inherited must not outlive the writer that took it."""
    path = tmp_path / "a.db"
    read, write = os.pipe()

    def leave_a_child() -> None:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        os.write(write, str(child).encode())
        signal.pause()

    def parent() -> None:
        SQLite(path).transact(leave_a_child)

    process = multiprocess.Process(target=parent)
    process.start()
    child = int(os.read(read, 100))
    process.kill()
    process.join()
    try:
        with bough.connect(path, patience=1) as store:
            store.session("cli:a").save_turn(steps("after", 2), wait=0)
            assert assert_sound(store) == {"cli:a": ["after"]}
    finally:
        os.kill(child, signal.SIGKILL)
        os.close(read)
        os.close(write)


def test_threads_share_one_store(somewhere: StrPath) -> None:
    path = somewhere
    errors: list[BaseException] = []
    with bough.connect(path) as store:

        def write(name: str) -> None:
            try:
                own, shared = store.session(f"cli:{name}"), store.session("cli:one")
                for number in range(15):
                    own.save_turn(steps(f"{name}.{number}", 3))
                    first, *rest = steps(f"{name}.{number}", 3)
                    with shared.turn(first, wait=60) as turn:
                        turn.add(rest)
                    assert len(turns_on(own.path())) == number + 1
                    assert len(list(store.list_messages(limit=7))) <= 7
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(f"w{n}",)) for n in range(WRITERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        found = assert_sound(store)
    said = [[f"w{n}.{number}" for number in range(15)] for n in range(WRITERS)]
    assert_in_order(found["cli:one"], said)
    assert [found[f"cli:w{n}"] for n in range(WRITERS)] == said


def test_two_stores_of_one_process_share_a_file(somewhere: StrPath) -> None:
    path = somewhere
    with bough.connect(path) as one, bough.connect(path) as two:
        for number in range(20):
            (one, two)[number % 2].session("cli:a").save_turn(steps(f"t{number}", 2))
        bough.connect(path).close()  # a third one that goes must not take their locks along
        one.session("cli:a").save_turn(steps("t20", 2))
        assert turns_on(two.session("cli:a").path()) == [f"t{number}" for number in range(21)]
    assert len(reopened(path)["cli:a"]) == 21


def test_additions_of_threads_to_one_turn_are_serialised(somewhere: StrPath) -> None:
    """As tools do that are at work at the same time."""
    with bough.connect(somewhere) as store:
        session = store.session("cli:a")
        with session.turn("go") as turn:
            threads = [threading.Thread(target=turn.add, args=(assistant(f"part {n}"),)) for n in range(WRITERS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        said = [node.message.text for node in session.path()]
        assert (said[0], sorted(said[1:])) == ("go", [f"part {n}" for n in range(WRITERS)])
        assert store.verify() == []


def test_ctrl_c_at_any_point_of_a_write_releases_the_lock(tmp_path: Path) -> None:
    path, stopped, kept, writing = tmp_path / "a.db", 0, [], False

    def interrupt(*_: object) -> None:
        if writing:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with bough.connect(path) as store, bough.connect(path, patience=1) as other:
            session = store.session("cli:a")
            began = time.perf_counter()
            session.save_turn(steps("first", 2))
            usual = time.perf_counter() - began
            for number in range(200):
                try:
                    writing = True
                    signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, usual))
                    session.save_turn(steps(f"t{number}", 2))
                    kept.append(f"t{number}")
                except KeyboardInterrupt:
                    stopped += 1
                finally:
                    writing = False
                    signal.setitimer(signal.ITIMER_REAL, 0)
                other.session("cli:b").save_turn(steps(f"o{number}", 2), wait=0)
            found = assert_sound(store)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert stopped > 0
    assert found["cli:b"] == [f"o{number}" for number in range(200)]
    assert set(found["cli:a"]) >= {"first", *kept}
