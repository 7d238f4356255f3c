"""The store as tables: SQLite and Parquet, with one type for each column."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import bough
from bough import Save, Store, Usage, assistant, tool_call, tool_result, user
from bough.exporters import tables

LONG = "leaf " * 4_000_000
"""20 MB: more than a line that DuckDB reads without being asked to."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "a.db") as store:
        session = store.session("cli:oaks", title="Oaks \ud800")
        call = assistant(tool_call("c", "read"), "A tree.")
        session.save_turn([user("Oak?"), call, tool_result("c", "no", error=True), assistant("1\0")], model="m",
                          usage=Usage(10, 2, cost=0.25))  # fmt: skip
        session.delegate("scout").save_turn([user("long"), assistant(LONG)])
        store.save_messages([Save(user("alone"), label="topic")])
        yield store


def test_a_sqlite_file_has_every_row_with_its_whole_text(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "all.sqlite"
    tables.write_sqlite(store, str(target))
    with closing(sqlite3.connect(target)) as connection:
        rows = connection.execute(
            "SELECT role, session, model, cost, text, size, label, error FROM messages"
        ).fetchall()
        assert rows[:2] == [("user", "cli:oaks", None, None, "Oak?", 4, None, 0),
                            ("assistant", "cli:oaks", None, None, "A tree.", 7, None, 0)]  # fmt: skip
        assert rows[2][4] == "no"
        assert rows[3] == ("assistant", "cli:oaks", "m", 0.25, "1\0", 2, None, 0)
        assert rows[5][4:6] == (LONG, len(LONG))
        assert rows[6] == ("user", None, None, None, "alone", 5, "topic", 0)
        assert connection.execute("SELECT sum(cost), count(*) FROM replies").fetchone() == (0.25, 1)
        assert connection.execute("SELECT title, parent FROM sessions ORDER BY session").fetchall() == [
            ("Oaks ?", None), (None, "cli:oaks"),
        ]  # fmt: skip
        times = connection.execute("SELECT created_at, id FROM messages").fetchall()
        assert [
            (bough.model.times.iso(node.created_at), node.id) for node in store.list_messages(ascending=True)
        ] == times
        assert connection.execute("SELECT count(*) FROM turns WHERE status = 'complete'").fetchone() == (2,)


def test_duckdb_reads_the_parquet_files_with_their_types(store: Store, tmp_path: Path) -> None:
    for table in tables.COLUMNS:
        tables.write_parquet(store, table, str(tmp_path / f"{table}.parquet"))
    code = (
        "import duckdb, sys\n"
        "def rows(sql): return duckdb.sql(sql.replace('@', sys.argv[1] + '/')).fetchall()\n"
        "print(rows(\"SELECT sum(cost), max(length(text)) FROM '@messages.parquet'\"))\n"
        "print(rows(\"SELECT t.status, count(*) FROM '@turns.parquet' t JOIN '@messages.parquet' m ON m.turn_id = t.id "
        'GROUP BY 1"))\n'
        "print([row[1] for row in rows(\"DESCRIBE SELECT error, created_at, size, cost FROM '@messages.parquet'\")])\n"
        "print(rows(\"SELECT count(*), sum(input_tokens) FROM '@replies.parquet'\"))\n"
        "print(len(rows(\"FROM '@sessions.parquet'\")))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        f"[(0.25, {len(LONG)})]",
        "[('complete', 6)]",
        "['BOOLEAN', 'TIMESTAMP', 'BIGINT', 'DOUBLE']",
        "[(1, 10)]",
        "2",
    ], done.stderr


def test_an_empty_store_has_empty_tables_with_all_columns(tmp_path: Path) -> None:
    with bough.connect(":memory:") as store:
        tables.write_sqlite(store, str(tmp_path / "all.sqlite"))
        tables.write_parquet(store, "messages", str(tmp_path / "messages.parquet"))
    with closing(sqlite3.connect(tmp_path / "all.sqlite")) as connection:
        columns = [name for _, name, *_ in connection.execute("PRAGMA table_info(messages)")]
    assert columns == [column.name for column in tables.COLUMNS["messages"]]
    code = "import duckdb, sys; print(duckdb.read_parquet(sys.argv[1]).columns == sys.argv[2].split())"
    words = [sys.executable, "-c", code, str(tmp_path / "messages.parquet"), " ".join(columns)]
    assert subprocess.run(words, capture_output=True, text=True, check=True).stdout == "True\n"


def test_the_columns_are_those_of_the_views(store: Store) -> None:
    for table, columns in tables.COLUMNS.items():
        with store.db.select(f"SELECT * FROM bough_{table}", {}) as (names, _):
            assert {column.name for column in columns} <= set(names)
