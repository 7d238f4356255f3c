"""Full disks, missing permissions, foreign and damaged files, backups and migrations."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

import bough
from bough import Media, Save, Store, user
from bough.compress import compress, decompress
from bough.db import read_statements
from bough.db.migrations import SCHEMA, VERSION
from bough.db.sqlite import files
from bough.db.sqlite.driver import SQLite
from bough.db.sqlite.opening import wal_is_safe
from bough.db.sqlite.schema import APPLICATION_ID

from .checks import assert_sound, reopened, steps, turns_on
from .processes import run_alone

NOBODY = 65534


def save(path: Path, *names: str, padding: str = "") -> None:
    with bough.connect(path) as store:
        for name in names:
            store.session("cli:a").save_turn(steps(name, 2, padding))


def content(directory: Path) -> dict[str, bytes]:
    """Every file in a directory but the lock, which is empty and always may be there."""
    return {entry.name: entry.read_bytes() for entry in directory.iterdir() if not entry.name.endswith("-lock")}


# Disk full -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of three megabytes."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(place)]
    if os.geteuid() != 0 or not shutil.which("mount") or subprocess.call(mount) != 0:
        pytest.skip("mounting a small disk needs root")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True, capture_output=True)


def fill_up(store: Store, seed: int = 0) -> list[str]:
    """Saves turns until the disk is full; the ones that were acknowledged."""
    session, saved = store.session("cli:a"), list[str]()
    for number in range(1000):
        noise = bough.Media("image", "image/png", data=os.urandom(30_000))
        first, reply = steps(f"s{seed}n{number}", 2)
        try:
            session.save_turn([bough.Message("user", (*first.blocks, noise)), reply])
        except bough.Full:
            return saved
        saved.append(f"s{seed}n{number}")
    pytest.fail("the disk never was full")


def test_a_store_on_a_full_disk_can_be_read_and_written_again_when_space_is_free(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    with bough.connect(small_disk / "a.db") as store:
        saved = fill_up(store)
        assert saved
        assert turns_on(store.session("cli:a").path()) == saved
        with pytest.raises(bough.Full):
            store.session("cli:a").turn(bough.user(bough.Media("image", "image/png", data=os.urandom(100_000))))
        assert turns_on(store.session("cli:a").path()) == saved
        ballast.unlink()
        again = fill_up(store, 1)
        assert again
        assert assert_sound(store) == {"cli:a": saved + again}
    assert reopened(small_disk / "a.db") == {"cli:a": saved + again}


def test_opening_a_store_on_a_full_disk_is_an_error_and_changes_nothing(small_disk: Path) -> None:
    save(small_disk / "a.db", "one")
    with (small_disk / "ballast").open("wb", buffering=0) as ballast, pytest.raises(OSError, match="No space"):
        while True:
            ballast.write(bytes(4096))
    before = (small_disk / "a.db").read_bytes()
    for path in (small_disk / "a.db", small_disk / "new.db"):
        with pytest.raises(bough.Full):
            bough.connect(path)
    assert (small_disk / "a.db").read_bytes() == before
    (small_disk / "ballast").unlink()
    save(small_disk / "new.db", "two")
    assert reopened(small_disk / "a.db") == {"cli:a": ["one"]}
    assert reopened(small_disk / "new.db") == {"cli:a": ["two"]}


def test_a_backup_that_does_not_fit_leaves_no_partial_file(small_disk: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        store.save_messages([Save(user(bough.Media("image", "image/png", data=os.urandom(4_000_000))))])
        with pytest.raises(bough.Full):
            store.backup(small_disk / "backup.db")
        assert list(small_disk.iterdir()) == []
        store.backup(tmp_path / "backup.db")
    with bough.connect(tmp_path / "backup.db") as copy:
        assert copy.verify() == []


# What may not be written ---------------------------------------------------------------------------------------------


def as_nobody(work: Callable[..., str], *arguments: object) -> str:
    """Does the work without root's right to ignore modes."""
    if os.geteuid() != 0:
        return work(*arguments)

    def drop() -> str:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        return work(*arguments)

    return run_alone(drop)


@pytest.fixture
def open_place(tmp_path: Path) -> Iterator[Path]:
    """A directory that everyone can reach."""
    place = Path(f"/tmp/bough-{os.getpid()}-{tmp_path.name}")
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    yield place
    shutil.rmtree(place)


def read_and_try_to_write(path: Path) -> str:
    with bough.connect(path) as store:
        assert turns_on(store.session("cli:a").path()) == ["one", "two"]
        assert len(list(store.list_messages())) == 4
        assert store.verify() == []
        assert [info.key for info in store.sessions()] == ["cli:a"]
        store.search("one")
        for work in (
            lambda: store.session("cli:a").save_turn(steps("three", 2)),
            lambda: store.session("cli:new"),
            lambda: store.save_messages([Save(user("three"))]),
            lambda: store.session("cli:a").turn(user("three")),
            lambda: store.delete_session("cli:a"),
        ):
            with pytest.raises(bough.Refused, match="reading only"):
                work()
        assert store.index() is False
    return "read"


@pytest.mark.parametrize(("file", "directory"), [(0o444, 0o555), (0o666, 0o555), (0o444, 0o777)])
def test_a_file_without_write_permission_can_be_read(open_place: Path, file: int, directory: int) -> None:
    path = open_place / "a.db"
    save(path, "one", "two")
    path.chmod(file)
    (open_place / "a.db-lock").unlink()
    open_place.chmod(directory)
    before = content(open_place)
    assert as_nobody(read_and_try_to_write, path) == "read"
    assert content(open_place)["a.db"] == before["a.db"]
    open_place.chmod(0o777)


def connect_and_say(path: Path) -> str:
    try:
        bough.connect(path).close()
    except bough.StorageError as error:
        return str(error)
    return "opened"


def test_creating_a_file_in_a_read_only_directory_is_an_error(open_place: Path) -> None:
    open_place.chmod(0o555)
    assert "cannot be created" in as_nobody(connect_and_say, open_place / "a.db")
    open_place.chmod(0o777)
    assert content(open_place) == {}


def test_opening_a_file_without_read_permission_is_an_error(open_place: Path) -> None:
    path = open_place / "a.db"
    save(path, "one")
    if os.geteuid() == 0:
        assert "cannot be opened" in as_nobody(connect_and_say, path)
    else:
        path.chmod(0)
        assert "cannot be opened" in connect_and_say(path)


# Network file systems ------------------------------------------------------------------------------------------------


def mountinfo(directory: Path, kind: str, point: Path) -> str:
    path = directory / "mountinfo"
    path.write_text(
        "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n"
        f"99 22 0:40 / {str(point).replace(' ', chr(92) + '040')} rw - {kind} server:/x rw\n"
    )
    return str(path)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "ceph", "lustre", "virtiofs"])
def test_network_file_systems_are_recognised(tmp_path: Path, kind: str) -> None:
    place = tmp_path / "on the net" / "deep"
    place.mkdir(parents=True)
    mounts = mountinfo(tmp_path, kind, tmp_path / "on the net")
    assert files.is_network(place / "a.db", mounts)
    assert files.is_network(tmp_path / "on the net" / "a.db", mounts)
    assert not files.is_network(tmp_path / "on the net but not really.db", mounts)
    assert not files.is_network(place / "a.db", mountinfo(tmp_path, "ext4", tmp_path / "on the net"))


def test_a_link_to_a_network_file_system_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "net")
    assert files.is_network(tmp_path / "link" / "a.db", mountinfo(tmp_path, "nfs4", tmp_path / "net"))


def test_a_link_to_a_file_on_a_network_file_system_is_recognised(tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    (tmp_path / "a.db").symlink_to(tmp_path / "net" / "a.db")
    assert files.is_network(tmp_path / "a.db", mountinfo(tmp_path, "nfs4", tmp_path / "net"))


def test_a_network_file_system_is_refused_with_wal_and_works_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "net"
    place.mkdir()
    mounts = mountinfo(tmp_path, "nfs4", place)
    real = files.is_network
    monkeypatch.setattr("bough.db.sqlite.driver.is_network", lambda path: real(path, mounts))
    with pytest.raises(bough.Refused, match=r"network file system.*journal='truncate'"):
        bough.connect(place / "a.db")
    assert content(place) == {}
    with bough.connect(place / "a.db", journal="truncate") as store:
        store.session("cli:a").save_turn(steps("one", 2))
        assert assert_sound(store) == {"cli:a": ["one"]}
        assert not (place / "a.db-wal").exists()
    connection = apsw.Connection(str(place / "a.db"))
    assert connection.pragma("journal_mode") != "wal"
    connection.close()


def test_wal_is_refused_with_an_sqlite_version_that_loses_commits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe = ["3.51.3", "3.52.0", "3.53.2", "3.54.1", "4.0.0", "3.50.7", "3.50.9", "3.44.6"]
    unsafe = ["3.7.0", "3.40.1", "3.44.5", "3.45.0", "3.46.1", "3.50.6", "3.51.0", "3.51.2"]
    assert [version for version in safe + unsafe if wal_is_safe(version)] == safe
    assert wal_is_safe(apsw.sqlite_lib_version())
    monkeypatch.setattr("apsw.sqlite_lib_version", lambda: "3.40.1")
    with bough.connect(tmp_path / "a.db") as store:
        store.session("cli:a").save_turn(steps("one", 2))
        assert list(tmp_path.glob("*-wal")) == []
        assert assert_sound(store) == {"cli:a": ["one"]}


# Files that are not what they should be ------------------------------------------------------------------------------


def not_a_database(path: Path) -> None:
    path.write_text("Dear diary,\n" * 1000)


def another_programs(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE cookies (name, value); INSERT INTO cookies VALUES ('a', 'b')")
    connection.close()


def another_programs_with_a_version(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version=1")
    connection.close()


def another_programs_in_wal_mode(path: Path) -> None:
    """As it is while the other program runs, or after it crashed."""
    connection = apsw.Connection(str(path.with_name("source.db")))
    connection.pragma("journal_mode", "wal")
    connection.execute("CREATE TABLE cookies (name, value); INSERT INTO cookies VALUES ('a', 'b')")
    for suffix in ("", "-wal"):
        shutil.copy(f"{path.with_name('source.db')}{suffix}", f"{path}{suffix}")
    connection.close()
    path.with_name("source.db").unlink()


def truncated(path: Path) -> None:
    save(path, *(f"t{n}" for n in range(30)), padding="x" * 3000)
    os.truncate(path, path.stat().st_size // 2)


def truncated_in_its_head(path: Path) -> None:
    save(path, "one")
    os.truncate(path, 60)


def flipped_in_its_head(path: Path) -> None:
    save(path, "one")
    data = bytearray(path.read_bytes())
    data[5] ^= 4
    path.write_bytes(data)


def newer(path: Path) -> None:
    save(path, "one")
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA user_version=99")
    connection.close()


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (not_a_database, bough.Corrupt, "not a SQLite database"),
        (another_programs, bough.Refused, "another program"),
        (another_programs_with_a_version, bough.Refused, "another program"),
        (another_programs_in_wal_mode, bough.Refused, "another program"),
        (truncated, bough.Corrupt, "damaged"),
        (truncated_in_its_head, bough.Corrupt, "damaged"),
        (flipped_in_its_head, bough.Corrupt, "not a SQLite database"),
        (newer, bough.SchemaTooNew, "newer bough"),
    ],
)
def test_a_foreign_or_damaged_file_is_an_error_and_is_not_changed(
    tmp_path: Path, make: Callable[[Path], None], error: type[bough.BoughError], words: str
) -> None:
    path = tmp_path / "a.db"
    make(path)
    before = content(tmp_path)
    for _ in range(2):
        with pytest.raises(error, match=words) as raised:
            bough.connect(path)
        assert str(path) in str(raised.value)
    after = content(tmp_path)
    after.pop("a.db-shm", None)
    assert after == before


def test_a_flipped_bit_is_an_error_or_is_found_or_changes_nothing(tmp_path: Path) -> None:
    """One bit each, anywhere in the file: an error of ours, or a finding, or nothing changed."""
    path = tmp_path / "a.db"
    save(path, *(f"t{n}" for n in range(20)), padding="y" * 300)
    with bough.connect(path) as store:
        good = [node.message for node in store.session("cli:a").path()]
    original = path.read_bytes()
    noticed = 0
    for number in range(150):
        place = (number * 7919 * 61) % (len(original) * 8)
        data = bytearray(original)
        data[place // 8] ^= 1 << place % 8
        path.write_bytes(data)
        for side in ("-wal", "-shm"):
            path.with_name(path.name + side).unlink(missing_ok=True)
        try:
            with bough.connect(path) as store:
                findings = store.verify()
                messages = [node.message for node in store.session("cli:a").path()]
        except bough.BoughError:
            noticed += 1
            continue
        assert findings or messages == good, f"bit {place} changed what was said, and nobody noticed"
        noticed += bool(findings)
    assert noticed > 0


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.touch()
    save(path, "one")
    assert reopened(path) == {"cli:a": ["one"]}


def test_a_missing_directory_is_an_error_and_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(bough.NotFound, match="does not exist; make it first"):
        bough.connect(tmp_path / "nowhere" / "a.db")
    assert content(tmp_path) == {}


def test_opening_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(bough.StorageError, match="is a directory"):
        bough.connect(tmp_path)
    assert content(tmp_path) == {}


@pytest.mark.parametrize(
    "name", ["a b.db", "ü–🌳.db", "?mode=ro&x=%20#y.db", "file:a.db", "--help", "a'b\"c.db", ":memory:"]
)
def test_a_file_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    save(path, "one")
    assert path.exists()
    assert reopened(path) == {"cli:a": ["one"]}


def test_a_relative_path_survives_a_change_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    with bough.connect("a.db") as store:
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.session("cli:a").save_turn(steps("one", 2))
        store.backup(tmp_path / "copy.db")
    assert content(tmp_path / "elsewhere") == {}
    assert reopened(tmp_path / "a.db") == {"cli:a": ["one"]}


def test_saving_to_a_file_deleted_while_open_is_an_error(tmp_path: Path) -> None:
    """Writing into a file that has no name any more would lose everything silently."""
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        store.session("cli:a").save_turn(steps("one", 2))
        for side in ("", "-wal", "-shm"):
            path.with_name(path.name + side).unlink()
        with pytest.raises(bough.StorageError):
            store.session("cli:a").save_turn(steps("two", 2))


# Modes ---------------------------------------------------------------------------------------------------------------


def modes(directory: Path) -> dict[str, int]:
    return {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in directory.iterdir() if entry.is_file()}


def test_every_file_is_private_with_any_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        migrations = with_a_second_step(tmp_path / "migrations", "CREATE TABLE invented (n INTEGER);")
        place = tmp_path / "place"
        place.mkdir()
        with bough.connect(place / "a.db") as store:
            store.session("cli:a").save_turn(steps("one", 2))
            store.backup(place / "copy.db")
        with Store(SQLite(place / "a.db", migrations=migrations)) as store:
            store.session("cli:a").save_turn(steps("two", 2))
            assert modes(place) == dict.fromkeys(
                ["a.db", "a.db-wal", "a.db-shm", "a.db-lock", f"a.db.v{VERSION}.backup", "copy.db"], 0o600
            )
    finally:
        os.umask(before)


# Backups and migrations ----------------------------------------------------------------------------------------------


def test_a_backup_during_writes_is_consistent(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save(path, "first")
    stop = threading.Event()

    def write() -> None:
        with bough.connect(path) as mine:
            number = 0
            while not stop.is_set():
                mine.session("cli:a").save_turn(steps(f"t{number}", 3, "x" * 3000))
                number += 1
                stop.wait(0.004)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        with bough.connect(path) as store:
            for number in range(6):
                least = turns_on(store.session("cli:a").path())
                store.backup(tmp_path / f"copy{number}.db")
                copied = reopened(tmp_path / f"copy{number}.db")["cli:a"]
                assert copied[: len(least)] == least
    finally:
        stop.set()
        thread.join()
    final = reopened(path)["cli:a"]
    for number in range(6):
        copied = reopened(tmp_path / f"copy{number}.db")["cli:a"]
        assert copied == final[: len(copied)]


def test_a_backup_never_overwrites(tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_text("precious")
    with bough.connect(tmp_path / "a.db") as store, pytest.raises(bough.Refused, match="never overwrites"):
        store.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_text() == "precious"


def test_a_backup_into_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store, pytest.raises(bough.BoughError, match="nowhere"):
        store.backup(tmp_path / "nowhere" / "copy.db")


def with_a_second_step(directory: Path, sql: str) -> Path:
    directory.mkdir()
    for step in (Path(SCHEMA) / "migrations").glob("*.sqlite.sql"):
        (directory / step.name).write_bytes(step.read_bytes())
    (directory / f"{VERSION + 1:04}-invented.sqlite.sql").write_text(sql)
    return directory


def test_a_migration_keeps_a_backup_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    save(path, "one", "two")
    migrations = with_a_second_step(tmp_path / "migrations", "CREATE TABLE invented (n INTEGER);")
    with Store(SQLite(path, migrations=migrations)) as store:
        store.session("cli:a").save_turn(steps("three", 2))
        assert assert_sound(store) == {"cli:a": ["one", "two", "three"]}
    with pytest.raises(bough.SchemaTooNew):
        bough.connect(path)  # this bough has not heard of the invented version
    assert reopened(tmp_path / f"a.db.v{VERSION}.backup") == {"cli:a": ["one", "two"]}


@pytest.mark.parametrize(
    "sql", ["CREATE TABLE invented (n INTEGER); DROP TABLE nothing;", "DELETE FROM state; CREATE TABL"]
)
def test_a_failed_migration_leaves_the_file_unchanged(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "a.db"
    save(path, "one")
    migrations = with_a_second_step(tmp_path / "migrations", sql)
    with pytest.raises(bough.StorageError):
        SQLite(path, migrations=migrations)
    assert reopened(path) == {"cli:a": ["one"]}
    connection = apsw.Connection(str(path))
    assert connection.pragma("user_version") == VERSION
    assert connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'invented'").get == 0
    connection.close()


def shape(connection: apsw.Connection) -> list[tuple[str, ...]]:
    """The schema without comments, white space and internal tables."""
    rows = connection.execute(
        "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_master "
        "WHERE name NOT LIKE 'sqlite_seq%' AND name NOT LIKE 'sqlite_stat%' ORDER BY type, name"
    )
    plain = [(*row[:3], re.sub(r"\s+", " ", re.sub(r"--[^\n]*", "", row[3])).strip()) for row in rows]
    return [(*row[:3], re.sub(r" ?([,()]) ?", r"\1", row[3])) for row in plain]


def test_the_schema_is_the_sum_of_the_migrations() -> None:
    whole, summed = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    whole.execute((Path(SCHEMA) / "sqlite.sql").read_text())
    for step in sorted((Path(SCHEMA) / "migrations").glob("*.sqlite.sql")):
        summed.execute(step.read_text())
    assert shape(whole) == shape(summed)
    assert len(shape(whole)) > 10
    for table in ("state",):
        rows = [connection.execute(f"SELECT * FROM {table}").fetchall() for connection in (whole, summed)]
        assert rows[0] == rows[1]


FIRST_SCHEMA = """
INSERT INTO blobs VALUES (1, x'01', 3, NULL, 1);
INSERT INTO blob_bytes VALUES (1, CAST('oak' AS BLOB));
INSERT INTO messages (n, id, parent, turn, role, error, digest, created_at) VALUES
  (1, 'aaaaaa', NULL, 1, 'user', 0, x'01', 10), (2, 'bbbbbb', 1, 1, 'assistant', 0, x'02', 11),
  (3, 'cccccc', 2, NULL, 'user', 0, x'03', 12);
INSERT INTO blocks (message, position, type, modality, mime, call_id, name, content, blob) VALUES
  (1, 0, 'text', NULL, NULL, NULL, NULL, 'What is it?', NULL),
  (1, 1, 'media', 'image', 'image/png', NULL, NULL, NULL, 1),
  (2, 0, 'text', NULL, NULL, NULL, NULL, 'I will look.', NULL),
  (2, 1, 'tool_call', NULL, NULL, 'c1', 'look', '{}', NULL);
INSERT INTO sessions (n, key, head, revision, activity, created_at, updated_at) VALUES
  (1, 'cli:a', 2, 1, 1, 10, 11), (7, 'cli:gone', NULL, 0, 2, 10, 11);
DELETE FROM sessions WHERE n = 7;
INSERT INTO turns (n, session, last, status, started_at) VALUES (1, 1, 2, 'complete', 10);
UPDATE state SET highest = 4;
PRAGMA user_version = 1;
"""


def old_payload(rows: dict[str, Any]) -> bytes:
    """Rows as an entry of the trash held them before it said of which schema they are."""
    return compress(json.dumps(rows, default=lambda data: {"$bytes": b64encode(data).decode()}).encode())


def test_a_file_of_the_first_schema_is_migrated_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = apsw.Connection(str(path))
    connection.execute((Path(SCHEMA) / "migrations" / "0001-initial.sqlite.sql").read_text() + FIRST_SCHEMA)
    deleted = {
        "messages": [[4, "dddddd", 2, None, "user", None, None, None, 0, None, 0, b"\4", None, 13]],
        "blocks": [[4, 0, None, "text", None, None, None, None, "Thanks", None, None, None, None],
                   [4, 1, None, "media", "image", "image/png", None, None, None, None, 1, None, None]],
        "turns": [], "externals": [], "sessions": [], "moved": [], "cut": [],
    }  # fmt: skip
    connection.execute("INSERT INTO trash VALUES (1, 'tttttt', 20, 'messages', 1, ?)", (old_payload(deleted),))
    connection.execute("UPDATE blobs SET refs = 2")
    connection.pragma("application_id", APPLICATION_ID)
    connection.close()
    with bough.connect(path) as store:
        question, reply = store.session("cli:a").path()
        oak = Media("image", "image/png", data=b"oak")
        assert question.message == bough.user("What is it?", oak)
        assert reply.message == bough.assistant("I will look.", bough.tool_call("c1", "look", "{}"))
        assert store.get_messages(["cccccc"])[0].message == bough.Message("user", ())
        assert store.restore("tttttt") == ["dddddd"]
        assert store.get_messages(["dddddd"])[0].message == bough.user("Thanks", oak)
        assert {finding.code for finding in store.verify()} == {"digest", "damaged_blob"}  # they were invented above
        store.session("cli:b")
        assert (store.db.row("session_numbers") or (0,))[0] == 8  # a turn may still remember the seventh
    assert (tmp_path / "a.db.v1.backup").exists()


def test_a_file_of_the_second_schema_is_migrated_with_every_branch(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(decompress((Path(__file__).parents[1] / "db/stores/version-2.store.zst").read_bytes()))
    written = apsw.Connection(str(path))
    before: dict[str, str | None] = dict(
        written.execute("SELECT m.id, p.id FROM messages m LEFT JOIN messages p ON p.n = m.parent ORDER BY m.n")
    )
    written.close()
    (question,) = [id for id, parent in before.items() if parent is None]
    below = [id for id, parent in before.items() if parent == question]
    assert len(below) == 2  # the file has a fork at its first message
    with bough.connect(path) as store:
        assert {node.id: node.parent_id for node in store.list_messages()} == before
        assert [node.id for node in store.children(question)] == below
        assert store.verify() == []
        store.delete_messages([question], recursive=True)
        assert list(store.list_messages()) == []
        assert store.verify() == []
    migrated, fresh = apsw.Connection(str(path)), apsw.Connection(":memory:")
    fresh.execute((Path(SCHEMA) / "sqlite.sql").read_text())
    assert shape(migrated) == shape(fresh)
    assert migrated.pragma("integrity_check") == "ok"
    migrated.close()
    with bough.connect(tmp_path / "a.db.v2.backup") as store:  # as it was before, and migrated in its turn
        assert {node.id: node.parent_id for node in store.list_messages()} == before


def test_children_are_found_without_reading_every_message(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db"):
        downwards = {name: sql for name, sql in read_statements("sqlite").items() if "c.parent" in sql}
        connection = apsw.Connection(str(tmp_path / "a.db"))
        for name, sql in downwards.items():
            asked = re.sub(r"\?\d*", "1", sql)
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {asked}")]
            assert any("messages_parent" in line for line in plan), name
            assert not any(re.match(r"SCAN (c|messages)\b", line) for line in plan), name
        connection.close()
    assert downwards.keys() > {"children", "subtree", "outline", "with_descendants", "first_child", "recent_leaves"}


def test_a_file_contains_the_application_id_and_the_schema_version(tmp_path: Path) -> None:
    save(tmp_path / "a.db", "one")
    connection = apsw.Connection(str(tmp_path / "a.db"))
    assert (connection.pragma("application_id"), connection.pragma("user_version")) == (APPLICATION_ID, VERSION)
    connection.close()


def test_purged_content_is_in_no_file_after_a_vacuum(tmp_path: Path) -> None:
    marker = "the word that must go " * 3
    with bough.connect(tmp_path / "a.db") as store:
        ids = store.save_messages([bough.Save(bough.user(marker)), bough.Save(bough.user("stays"))])
        assert len(store.search("must")) == 1
        store.delete_messages(ids[:1])
        store.purge()
        store.db.vacuum()
        found = [path.name for path in tmp_path.iterdir() if b"the word that must go" in path.read_bytes()]
        assert found == []
        assert [node.message.text for node in store.list_messages()] == ["stays"]
        assert store.verify() == []


def test_purged_words_are_gone_from_the_index(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store:
        ids = store.save_messages([bough.Save(bough.user("xylophone oak")), bough.Save(bough.user("oak"))])
        assert len(store.search("oak")) == 2
        store.delete_messages(ids[:1])
        store.purge()
    connection = apsw.Connection(str(tmp_path / "a.db"))
    connection.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, search, row)")
    assert connection.execute("SELECT term, cnt FROM temp.words").fetchall() == [("oak", 1)]
    assert not any(b"xylophone" in block for (block,) in connection.execute("SELECT block FROM search_data"))
    connection.close()
