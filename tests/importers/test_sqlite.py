"""SQLite files of other programs: read while they are written, and left as they are."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from bough import ImporterError, Store
from bough.importers.common.sqlite import open_tables
from tests.importers.helpers import import_path, sample
from tests.importers.sample import opened

INSERTION = "INSERT INTO messages (session_id, role, content, created_at) VALUES ('cli:default', 'user', ?, 1)"


def test_a_file_that_is_being_written_is_read_with_its_wal_and_left_alone(store: Store, tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA journal_mode=WAL").fetchall()
    writer.execute(INSERTION, ('"new"',))
    writer.execute("BEGIN IMMEDIATE")  # somebody is writing right now
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.startswith("bough.db")}
    import_path(store, path)
    assert "new" in {node.message.text for node in store.list_messages()}
    after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if not file.name.startswith("bough.db")}
    assert after == before
    writer.execute("ROLLBACK")
    writer.close()


def test_recognising_and_reading_a_file_leaves_nothing_beside_it(store: Store, tmp_path: Path) -> None:
    (tmp_path / "its").mkdir()
    path = sample("orcx", "four letters").make(tmp_path / "its")
    with closing(apsw.Connection(str(path))) as writer:
        writer.execute("PRAGMA journal_mode=WAL").fetchall()
    before = path.read_bytes()
    import_path(store, path)
    assert ([file.name for file in path.parent.iterdir()], path.read_bytes()) == (["conversations.db"], before)


def test_what_its_program_has_not_committed_is_not_read(store: Store, tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    writer = apsw.Connection(str(path))
    writer.execute("PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN IMMEDIATE")
    writer.execute("UPDATE messages SET content = '\"overwritten\"'")
    for number in range(2_000):  # more than its cache holds: pages reach the file before the commit
        values = (f'"uncommitted {number}"' + " " * 200,)
        writer.execute(INSERTION, values)
    assert (tmp_path / "conversations.db-journal").stat().st_size
    import_path(store, path)
    assert {node.message.text for node in store.list_messages()} >= {"what is this", "A tree."}
    assert sum(1 for _ in store.list_messages()) == 4
    writer.execute("ROLLBACK")
    writer.close()


def test_a_file_that_changes_while_it_is_read_is_to_be_read_again(tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    with pytest.raises(ImporterError, match="Import it again"), open_tables(path) as tables:
        assert list(tables.rows("messages", ["id"]))
        with opened(path) as connection:
            connection.execute("DELETE FROM messages")


def test_columns_that_a_generation_lacks_are_none_and_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    path = sample("egirl", "before").make(tmp_path)
    with opened(path) as connection:
        connection.execute("UPDATE messages SET content = CAST(x'22ff22' AS TEXT) WHERE id = 1")
    with open_tables(path) as tables:
        rows = list(tables.rows("messages", ["id", "content", "nonsense"], order="id"))
    assert rows[0]["nonsense"] is None
    assert rows[0]["content"] == '"\udcff"'
    assert json.loads(rows[0]["content"]) == "\udcff"
