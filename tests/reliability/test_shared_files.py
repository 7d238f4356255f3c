"""One file in the hands of several: stopped processes, other SQLite libraries, other names, readers without rights."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import bough
from bough import Store, assistant, user
from bough.db.sqlite import files, wal
from bough.db.sqlite.driver import SQLite
from bough.db.sqlite.write_queue import WriteQueue

from .checks import assert_sound, reopened, steps
from .processes import multiprocess, run_alone


def save(path: Path, *names: str) -> None:
    with bough.connect(path) as store:
        for name in names:
            store.session("cli:a").save_turn(steps(name, 2))


# Stopped processes ---------------------------------------------------------------------------------------------------


def take_and_stop(path: Path, lock: str) -> None:
    queue = WriteQueue(f"{path}-lock", 60)
    waited = queue._wait

    def stop_with(of: object, pauses: object) -> None:
        waited(of, pauses)  # type: ignore[arg-type]
        if getattr(of, "__name__", "") == lock:
            os.kill(os.getpid(), signal.SIGSTOP)

    queue._wait = stop_with  # type: ignore[method-assign, assignment]
    queue.run(lambda: None)


@contextmanager
def stopped_in_the_queue(path: Path, lock: str) -> Iterator[None]:
    """A process that was stopped when it had taken a lock of the queue, and not SQLite's."""
    process = multiprocess.Process(target=take_and_stop, args=(path, lock), daemon=True)
    process.start()
    os.waitid(os.P_PID, process.pid or 0, os.WSTOPPED | os.WNOWAIT)
    try:
        yield
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("lock", ["lockf", "flock"])
def test_a_process_stopped_while_it_waits_keeps_nobody_from_writing(tmp_path: Path, lock: str) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    with stopped_in_the_queue(path, lock), bough.connect(path, patience=1) as store:
        store.session("cli:a").save_turn(steps("two", 2), wait=0)
        assert assert_sound(store) == {"cli:a": ["one", "two"]}


def test_a_file_is_made_and_migrated_once_when_the_queue_is_passed(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with stopped_in_the_queue(path, "flock"):
        processes = [multiprocess.Process(target=save, args=(path, f"w{number}")) for number in range(4)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0] * 4
    assert sorted(reopened(path)["cli:a"]) == [f"w{number}" for number in range(4)]


def hold_and_die(path: Path) -> None:
    store = bough.connect(path)
    store.session("cli:gone").turn(user("held 0/2"))
    os._exit(0)


def stop_in_a_transaction(path: Path) -> None:
    SQLite(path).transact(lambda: os.kill(os.getpid(), signal.SIGSTOP))


def test_a_reader_opens_while_a_writer_is_stopped_and_a_dead_one_has_left_a_turn(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    for work in (hold_and_die, stop_in_a_transaction):
        process = multiprocess.Process(target=work, args=(path,), daemon=True)
        process.start()
        os.waitid(os.P_PID, process.pid or 0, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    with bough.connect(path, patience=0.1) as store:
        assert [node.message.text for node in store.session("cli:a").path()] == ["one 0/2", "one 1/2"]
    process.kill()
    process.join()


# Other libraries and other names -------------------------------------------------------------------------------------


def test_a_log_that_another_library_deletes_is_an_error_and_no_loss(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        session = store.session("cli:a")
        session.save_turn(steps("one", 2))
        sqlite3.connect(path).close()  # reads nothing, and drops no lock
        look = sqlite3.connect(path)
        look.execute("SELECT count(*) FROM messages").fetchone()
        look.close()
        assert not (tmp_path / "a.db-wal").exists(), "as it does when it closes a file of the same process"
        with pytest.raises(bough.StorageError, match=r"deleted while it was open.*Nothing was written; repeat"):
            session.save_turn(steps("two", 2))
        session.save_turn(steps("two", 2))
        assert assert_sound(store) == {"cli:a": ["one", "two"]}
    assert reopened(path) == {"cli:a": ["one", "two"]}


def test_a_log_that_is_deleted_during_a_write_is_an_error_and_overwrites_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "a.db", wal._sync

    def delete_and_sync(file: int) -> None:
        if path.with_name("a.db-wal").exists() and os.fstat(file).st_nlink:
            look = sqlite3.connect(path)
            look.execute("SELECT count(*) FROM messages").fetchone()
            look.close()
        sync(file)

    with bough.connect(path) as store:
        session = store.session("cli:a")
        session.save_turn(steps("one", 2))
        with monkeypatch.context() as patch:
            patch.setattr(wal, "_sync", delete_and_sync)
            with pytest.raises(bough.StorageError, match="Whether this write was kept is not known"):
                session.save_turn(steps("two", 2), idempotency_key="two")
        run_alone(save, path, "theirs")
        session.save_turn(steps("two", 2), idempotency_key="two")
    assert sorted(reopened(path)["cli:a"]) == ["one", "theirs", "two"]


def test_a_file_with_two_names_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    os.link(path, tmp_path / "b.db")
    with pytest.raises(bough.Refused, match=r"2 names \(hard links\)"):
        bough.connect(tmp_path / "b.db")
    os.unlink(tmp_path / "b.db")
    assert reopened(path) == {"cli:a": ["one"]}


def test_a_file_that_is_mounted_by_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    mounts = tmp_path / "mountinfo"
    mounts.write_text(
        f"22 1 254:0 / / rw - ext4 /dev/vda rw\n99 22 254:0 /srv/a.db {path.resolve()} rw - ext4 /dev/vda rw\n"
    )
    with pytest.raises(bough.Refused, match="Mount its directory instead"):
        files.check_names(path, mounts=str(mounts))
    files.check_names(tmp_path / "b.db", mounts=str(mounts))


# Readers without rights ----------------------------------------------------------------------------------------------


@pytest.fixture
def shown() -> Iterator[Path]:
    """A directory that everybody may read and only its owner may write."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    yield place
    shutil.rmtree(place)


READER = """
import os, sys
import pathlib, zstandard  # what is imported later may be out of reach
import bough
bough.connect(":memory:").session("a").save_turn([bough.user("q"), bough.assistant("a")])
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
store = bough.connect(sys.argv[1])
for line in sys.stdin:
    session = store.session("cli:a")
    print(len(session.path()), sum(len(node.message.text) for node in store.list_messages(limit=10**6)), flush=True)
"""


@contextmanager
def reader_without_rights(path: Path) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", READER, str(path)], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_reader_without_rights_on_the_directory_follows_the_writers(shown: Path) -> None:
    path = shown / "a.db"
    path.touch(0o644)
    path.chmod(0o644)
    save(path, "one")
    with reader_without_rights(path) as reader:

        def seen() -> int:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdin.write("\n")
            reader.stdin.flush()
            return int(reader.stdout.readline().split()[0])

        assert seen() == 2
        for number in range(3):  # the file is closed each time, so that no log is left
            save(path, f"closed{number}")
            assert seen() == 4 + 2 * number
        with bough.connect(path) as store:
            for number in range(40):
                store.session("cli:a").save_turn([user("q" * 500), assistant("a" * 90_000)])
                if number % 8 == 0:
                    assert seen() == 10 + 2 * number
            store.db._use().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()  # type: ignore[attr-defined]
            assert seen() == 88
        save(path, "last")
        assert seen() == 90


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user")
def test_a_reader_that_may_not_read_the_log_is_refused_while_somebody_writes(shown: Path) -> None:
    path = shown / "a.db"
    save(path, "one")
    with bough.connect(path):  # its log is private, as the file was when it was made
        path.chmod(0o644)
        with reader_without_rights(path) as reader:
            assert "what was written last would be missing" in reader.communicate("\n")[1]
    with reader_without_rights(path) as reader:
        assert reader.communicate("\n")[0].startswith("2 ")


# Backups -------------------------------------------------------------------------------------------------------------

BACKUP = """
import os, signal, sys
import bough
from bough.db.sqlite import driver
store = bough.connect(sys.argv[1])
if sys.argv[3] == "copied":
    driver.finish_part = lambda part, target: os.kill(os.getpid(), signal.SIGKILL)
else:
    real = driver.new_part
    def stop(target):
        part = real(target)
        os.kill(os.getpid(), signal.SIGKILL)
    driver.new_part = stop
store.backup(sys.argv[2])
"""


@pytest.mark.parametrize("moment", ["begun", "copied"])
def test_a_killed_backup_leaves_nothing_that_could_be_taken_for_one(tmp_path: Path, moment: str) -> None:
    path, target = tmp_path / "a.db", tmp_path / "b.db"
    save(path, "one")
    done = subprocess.run([sys.executable, "-c", BACKUP, path, target, moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    (part,) = tmp_path.glob("b.db.*.part")
    with pytest.raises(bough.Refused, match="interrupted copy"):
        bough.connect(part)
    with bough.connect(path) as store:
        store.backup(target)
    assert reopened(target) == {"cli:a": ["one"]}


@pytest.mark.soak
def test_backups_killed_at_random_are_complete_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        for number in range(300):
            store.session(f"cli:{number}").save_turn([user("q"), assistant(os.urandom(20_000).hex())])
    code = "import bough, sys; bough.connect(sys.argv[1]).backup(sys.argv[2])"
    absent = 0
    for number in range(100):
        target = tmp_path / f"b{number}.db"
        process = subprocess.Popen([sys.executable, "-c", code, path, target])
        while process.poll() is None and not list(tmp_path.glob(f"b{number}.db*")):
            time.sleep(0.001)
        time.sleep(number % 20 * 0.002)
        process.kill()
        process.wait()
        if target.exists():
            with bough.connect(target) as copy:
                assert copy.size().messages == 600
                assert copy.verify() == []
        else:
            absent += 1
    assert 0 < absent < 100


# Doubt ---------------------------------------------------------------------------------------------------------------


def test_a_failed_sync_that_cannot_be_mended_is_no_busy_and_stores_the_turn_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    with bough.connect(path, patience=0.2) as store, Store(SQLite(path)) as other:
        session = store.session("cli:a")
        holder = other.db._use()  # type: ignore[attr-defined]

        def fail(_: int) -> None:
            if not holder.in_transaction:
                holder.execute("BEGIN IMMEDIATE")  # and another program takes the lock meanwhile
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as patch:
            patch.setattr(wal, "_sync", fail)
            with pytest.raises(bough.StorageError, match="can be read now, and may be gone after a loss of power"):
                session.save_turn(steps("two", 2), idempotency_key="two")
        holder.execute("ROLLBACK")
        session.save_turn(steps("two", 2), idempotency_key="two")
        assert assert_sound(store) == {"cli:a": ["one", "two"]}
