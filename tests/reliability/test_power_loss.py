"""Power cuts at random times, and a failure of every single disk operation."""

from __future__ import annotations

import errno
import os
import random
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Event, Thread, current_thread
from typing import get_args

import apsw
import pytest

import bough
from bough import BoughError, Store, Usage
from bough.db.sqlite import wal

from .checks import assert_sound, reopened, steps
from .disk import Carelessness, Disk, OnShim, Op, ShimLog
from .power import SEED, History, cut_power, memory
from .processes import run_alone

__all__ = ["memory"]

# Power cuts ----------------------------------------------------------------------------------------------------------


def live(path: Path, turns: int, careless: Carelessness | None = None) -> tuple[Disk, History]:
    """A life of writing on a disk that takes notes, in a process that is gone when the power is."""
    return run_alone(write, path, turns, careless)


def write(path: Path, turns: int, careless: Carelessness | None) -> tuple[Disk, History]:
    disk, history = Disk(), History()
    with Store(OnShim(path, disk, careless=careless)) as store:
        for number in range(turns):
            key, name = f"cli:{number % 5}", f"t{number}"
            session = store.session(key)
            messages = steps(name, 2 + number % 4, "x" * (number % 3 * 4000))
            if number % 3:
                session.save_turn(messages)
            else:
                with session.turn(messages[0]) as turn:
                    history.steps.append((len(disk.ops), turn.id))
                    for message in messages[1:]:
                        history.steps += [(len(disk.ops), id_) for id_ in turn.add(message)]
            history.turns.append((len(disk.ops), key, name))
            if number % 10 == 9:
                (gone,) = store.save_messages([bough.Save(bough.user(f"gone{number} 0/1"))])
                store.delete_messages([gone])
                history.deleted.append((len(disk.ops), gone))
                store.search("0/2")
        history.order = assert_sound(store)
    return disk, history


def test_power_cuts_lose_nothing_acknowledged_and_cause_no_damage(memory: Path) -> None:
    disk, history = live(memory / "x.db", turns=70)
    toll = cut_power(memory, disk, history, cuts=300, seed=SEED)
    assert toll.cuts == 300
    assert toll.harmed == 0, f"again with BOUGH_SEED={SEED}: {toll.examples[:5]}"


@pytest.mark.soak
def test_thousands_of_power_cuts_lose_nothing_acknowledged(memory: Path) -> None:
    for round_ in range(20):
        place = memory / str(round_)
        place.mkdir()
        disk, history = live(place / "x.db", turns=150)
        toll = cut_power(place, disk, history, cuts=500, seed=SEED + round_)
        assert toll.harmed == 0, f"again with BOUGH_SEED={SEED + round_}: {toll.examples[:5]}"


@pytest.mark.parametrize("careless", get_args(Carelessness))
def test_the_check_detects_loss_with_fewer_syncs(memory: Path, careless: Carelessness) -> None:
    disk, history = live(memory / "x.db", turns=40, careless=careless)
    toll = cut_power(memory, disk, history, cuts=60, seed=SEED)
    assert toll.harmed > 20, f"BOUGH_SEED={SEED}: {toll}"


def test_the_check_detects_a_disk_that_ignores_syncs(memory: Path) -> None:
    disk, history = live(memory / "x.db", turns=40)
    last = max(at for at, op in enumerate(disk.ops) if op.verb == "sync")
    honest = Disk(ops=[op for op in disk.ops[: last + 1] if op.verb != "sync"])
    everything = History(turns=[(0, key, name) for _, key, name in history.turns])
    toll = cut_power(memory, honest, everything, cuts=30, seed=SEED)
    assert toll.harmed == 30


# A disk that fails ---------------------------------------------------------------------------------------------------


Work = Callable[[Store, str], None]


def one_turn(store: Store, name: str) -> None:
    store.session("cli:a").save_turn(steps(name, 4, "x" * 9000), idempotency_key=name, wait=0)


def steps_of_a_turn(store: Store, name: str) -> None:
    first, *rest = steps(name, 4, "x" * 9000)
    with store.session("cli:a").turn(first, idempotency_key=name, wait=0) as turn:
        for message in rest:
            turn.add(message)


def recorded(store: Store, name: str) -> None:
    session = store.session("cli:a")
    session.record([*session.path(), *steps(name, 3)])


def deleted_and_restored(store: Store, name: str) -> None:
    (id_,) = store.save_messages([bough.Save(bough.user(name + "x" * 9000))])
    store.delete_messages([id_])
    store.restore(id_)
    store.delete_messages([id_], keep=False)


def searched(store: Store, name: str) -> None:
    one_turn(store, name)
    store.search("0/4")


def session_made(store: Store, name: str) -> None:
    store.session(f"cli:{name}", title=name, extra={"name": name})
    store.session("cli:a").fork(key=f"cli:fork-{name}")


WORKS: list[Work] = [one_turn, steps_of_a_turn, recorded, deleted_and_restored, searched, session_made]


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "until-healed"])
@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
@pytest.mark.parametrize("work", WORKS)
def test_any_failed_write_or_sync_is_a_storage_error_and_the_next_turn_succeeds(
    memory: Path, work: Work, error: type[apsw.Error], lasting: bool
) -> None:
    disk = Disk()
    path = memory / "x.db"
    failures = 0
    kind = bough.Full if error is apsw.FullError else bough.StorageError
    with Store(OnShim(path, disk, checkpoint=8)) as store:
        one_turn(store, "before")
        for n in range(1, 400):
            disk.fail(error, at=n, lasting=lasting)
            try:
                work(store, f"n{n}")
            except kind:  # any other error ends the test
                failures += 1
            happened = disk.failed
            disk.heal()
            one_turn(store, f"after{n}")
            if not happened:
                break
            if n % 4 == 1 or n < 8:
                found = assert_sound(store)["cli:a"]
                assert [name for name in found if name[0] in "ab"] == [
                    "before",
                    *(f"after{k}" for k in range(1, n + 1)),
                ]
        else:
            pytest.fail("the work never ended without a failure")
        found = assert_sound(store)["cli:a"]
        after_the_cut = disk.image(len(disk.ops), random.Random(SEED))
    assert failures > 0
    assert [name for name in found if name[0] in "ab"] == ["before", *(f"after{k}" for k in range(1, n + 1))]
    assert reopened(path)["cli:a"] == found
    assert laid_out(after_the_cut, memory)["cli:a"] == found, f"again with BOUGH_SEED={SEED}"


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
def test_after_any_failed_write_during_creation_the_next_connect_succeeds(
    memory: Path, error: type[apsw.Error]
) -> None:
    failures = 0
    for n in range(1, 400):
        disk, path = Disk(), memory / f"{n}.db"
        disk.fail(error, at=n, lasting=True)
        try:
            Store(OnShim(path, disk)).close()
        except BoughError:
            failures += 1
        happened = disk.failed
        with bough.connect(path) as store:
            one_turn(store, "after")
        assert reopened(path) == {"cli:a": ["after"]}
        if not happened:
            break
    else:
        pytest.fail("opening never ended without a failure")
    assert failures > 0


def test_a_failed_add_can_be_retried_in_the_same_turn(memory: Path) -> None:
    disk, usage = Disk(), Usage(input_tokens=5, cost=0.5)
    first, *rest = steps("again", 4)
    with Store(OnShim(memory / "x.db", disk)) as store:
        session = store.session("cli:a")
        with session.turn(first) as turn:
            turn.add(rest[0], usage=usage)
            for message in rest[1:]:
                disk.fail(apsw.FullError, at=1, lasting=True)
                with pytest.raises(bough.Full):
                    turn.add(message, usage=usage)
                disk.heal()
                turn.add(message, usage=usage)
        assert assert_sound(store) == {"cli:a": ["again"]}
        (info,) = session.turns()
        assert (info.usage.input_tokens, info.usage.cost) == (15, 1.5)


def test_a_turn_that_failed_to_end_releases_its_session(memory: Path) -> None:
    disk = Disk()
    with Store(OnShim(memory / "x.db", disk)) as store:
        session = store.session("cli:a")
        with pytest.raises(bough.Full):
            with session.turn(steps("lost", 2)[0]) as turn:
                turn.add(steps("lost", 2)[1])
                disk.fail(apsw.FullError, at=1, lasting=True)
        disk.heal()
        session.save_turn(steps("next", 2), wait=0)
        assert assert_sound(store) == {"cli:a": ["next"]}
        assert [info.id for info in session.turns(status="interrupted")] == [turn.id]


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError])
@pytest.mark.parametrize("failures", [1, 2, 3])
def test_after_a_failed_sync_nothing_is_acknowledged_before_it_is_written_again(
    memory: Path, failures: int, error: type[apsw.Error]
) -> None:
    """The system takes what a failed sync should have carried for written: a further sync alone would prove nothing."""
    disk = Disk()
    with Store(OnShim(memory / "x.db", disk, checkpoint=100_000)) as store:
        one_turn(store, "a0")
        acknowledged = ["a0"]
        writes = sum(op.verb == "write" for op in written_by(disk, lambda: one_turn(store, "a1")))
        acknowledged.append("a1")
        disk.fail(error, at=writes + 1, lasting=True)  # every write succeeds, and the sync does not
        for _ in range(failures):
            with pytest.raises(bough.StorageError, match="may be gone after a loss of power"):
                one_turn(store, "a2")
        disk.heal()
        for name in ("a2", "a3"):  # a2 is there already, and is made durable now
            one_turn(store, name)
            acknowledged.append(name)
        after_the_cut = disk.image(len(disk.ops), random.Random(SEED))
    assert laid_out(after_the_cut, memory) == {"cli:a": acknowledged}


@pytest.mark.parametrize("remembered", [True, False], ids=["doubtful-when-opened", "mutant-that-forgets"])
def test_the_doubt_after_a_failed_sync_outlives_the_connection(
    memory: Path, monkeypatch: pytest.MonkeyPatch, remembered: bool
) -> None:
    """Whoever opens the log later is not told of the failure: the system tells those who have it open, once."""
    disk, path = Disk(), memory / "x.db"
    with Store(OnShim(path, disk, checkpoint=100_000)) as store:
        one_turn(store, "a0")
        writes = sum(op.verb == "write" for op in written_by(disk, lambda: one_turn(store, "a1")))
        disk.fail(apsw.IOError, at=writes + 1, lasting=True)
        with pytest.raises(bough.StorageError):
            one_turn(store, "a2")
        if (child := os.fork()) == 0:  # the connection is closed before, and the disk still fails
            os._exit(0)
        os.waitpid(child, 0)
        disk.heal()
        disk.untold.clear()
        if not remembered:
            monkeypatch.setattr(ShimLog, "doubtful", property(lambda _: False, lambda _, __: None))
        one_turn(store, "a3")  # acknowledged
        cuts = [disk.image(len(disk.ops), random.Random(seed)) for seed in range(10)]
    kept = []
    for number, files in enumerate(cuts):
        place = memory / str(number)
        place.mkdir()
        try:
            kept.append("a3" in laid_out(files, place).get("cli:a", []))
        except (BoughError, AssertionError):
            kept.append(False)
    assert all(kept) if remembered else not any(kept)


def test_messages_added_before_a_failed_sync_stay_in_the_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *rest = steps("a", 4)
    with bough.connect(tmp_path / "x.db") as store:
        session = store.session("cli:a")
        with session.turn(first) as turn:
            with monkeypatch.context() as patch:
                patch.setattr(wal, "_sync", broken)
                with pytest.raises(bough.StorageError, match="can be read now"):
                    turn.add(rest[0])
            turn.add(rest[1:])  # follows what is there already
        assert assert_sound(store) == {"cli:a": ["a"]}


def broken(_: int) -> None:
    raise OSError(errno.EIO, "Input/output error")


def laid_out(files: dict[str, bytes], directory: Path) -> dict[str, list[str]]:
    """What a store finds in files that are as a power cut left them."""
    place = directory / "after"
    place.mkdir()
    for name, content in files.items():
        (place / name).write_bytes(content)
    return reopened(place / "x.db")


def written_by(disk: Disk, work: Callable[[], None]) -> list[Op]:
    before = len(disk.ops)
    work()
    return disk.ops[before:]


# Waiting for the disk ------------------------------------------------------------------------------------------------


def test_a_write_with_a_failed_sync_is_an_error_and_is_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bough.connect(tmp_path / "x.db") as store:
        session = store.session("cli:a")
        with monkeypatch.context() as patch:
            patch.setattr(wal, "_sync", broken)
            with pytest.raises(bough.StorageError, match="can be read now, and may be gone after a loss of power"):
                session.save_turn(steps("a", 2), idempotency_key="a")
        again = session.save_turn(steps("a", 2), idempotency_key="a")
        assert [node.id for node in session.path()] == again
        assert assert_sound(store) == {"cli:a": ["a"]}


@pytest.mark.parametrize("shared", [True, False], ids=["threads", "stores"])
def test_other_writers_proceed_while_one_waits_for_a_sync(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    waits, may_go_on, sync = Event(), Event(), wal._sync

    def slow(file: int) -> None:
        if current_thread().name == "slow":
            waits.set()
            assert may_go_on.wait(10)
        sync(file)

    with ExitStack() as opened:
        store = opened.enter_context(bough.connect(tmp_path / "x.db"))
        other = store if shared else opened.enter_context(bough.connect(tmp_path / "x.db"))
        mine, theirs = store.session("cli:a"), other.session("cli:b")
        monkeypatch.setattr(wal, "_sync", slow)
        writer = Thread(target=lambda: mine.save_turn(steps("a", 2)), name="slow")
        writer.start()
        assert waits.wait(10)
        theirs.save_turn(steps("b", 2))
        assert writer.is_alive(), "a write was acknowledged before it was synced"
        may_go_on.set()
        writer.join()
        assert assert_sound(store) == {"cli:a": ["a"], "cli:b": ["b"]}


def test_closing_a_store_during_a_sync_does_not_interrupt_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits, closed, sync, synced = Event(), Event(), wal._sync, []

    def slow(file: int) -> None:
        waits.set()
        assert closed.wait(10)
        sync(file)
        synced.append(os.fstat(file).st_ino)

    store = bough.connect(tmp_path / "x.db")
    session = store.session("cli:a")
    inode = (tmp_path / "x.db-wal").stat().st_ino
    monkeypatch.setattr(wal, "_sync", slow)
    writer = Thread(target=lambda: session.save_turn(steps("a", 2)))
    writer.start()
    assert waits.wait(10)
    store.close()
    with (tmp_path / "unrelated").open("w"):  # is given the number of a file that was closed too early
        closed.set()
        writer.join()
    assert synced == [inode]
    assert reopened(tmp_path / "x.db") == {"cli:a": ["a"]}
