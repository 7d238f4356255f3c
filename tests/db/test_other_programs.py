"""Other programs read the file while bough writes to it, and the export of it: in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

import bough
from bough import Usage, assistant, user
from bough.exporters import jsonl

WRITER = """
import sys
import bough
with bough.connect(sys.argv[1]) as store:
    session = store.session("cli:busy")
    number = 0
    while not sys.stdin.closed and number < 100_000:
        session.save_turn([bough.user(f"question {number}"), bough.assistant("leaf " * 100)])
        if number == 0:
            print("writing", flush=True)
        number += 1
"""


def program(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        find_spec(name) is None, reason=f"{name} is not installed; it is in the extra bough[test]"
    )


def run(*words: str) -> str:
    """The output of a Python program, which runs the standard library's SQLite."""
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """A store to which another process keeps writing."""
    path = tmp_path / "chats.db"
    with bough.connect(path) as store:
        session = store.session("cli:oaks", title="Oaks")
        session.save_turn(
            [user("What is an oak?"), assistant("A tree.")], model="oak-1", usage=Usage(10, 20, cost=0.25)
        )
        session.save_turn([user("leaf " * 3000), assistant("Long.")])
        store.search("oak")
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"writing\n"
    yield path
    assert writer.poll() is None  # nobody has locked it out
    writer.kill()
    writer.communicate()
    with bough.connect(path) as store:
        assert store.verify() == []


def test_the_command_line_of_sqlite_reads_it(file: Path) -> None:
    """With the program if it is installed, and with the same library in Python if it is not."""
    query = "SELECT text FROM bough_messages WHERE session = 'cli:oaks' ORDER BY n LIMIT 2"
    code = "import sqlite3, sys; print(*(row[0] for row in sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)"
    python = [sys.executable, "-c", f"{code}.execute(sys.argv[2])), sep='\\n')", str(file), query]
    command = ["sqlite3", "-readonly", str(file), query]
    installed = any(os.access(os.path.join(place, "sqlite3"), os.X_OK) for place in os.get_exec_path())
    done = subprocess.run(command if installed else python, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "What is an oak?\nA tree.\n"


@program("sqlite_utils")
def test_sqlite_utils_counts_every_table(file: Path) -> None:
    counts = {
        one["table"]: one["count"] for one in json.loads(run("-m", "sqlite_utils", "tables", "--counts", str(file)))
    }
    assert counts["messages"] >= 6
    views = json.loads(run("-m", "sqlite_utils", "views", str(file)))
    assert {"bough_messages", "bough_turns", "bough_sessions", "bough_replies"} == {one["view"] for one in views}


@program("datasette")
def test_datasette_serves_it(file: Path) -> None:
    def get(page: str) -> str:
        return run("-m", "datasette", str(file), "--setting", "sql_time_limit_ms", "30000", "--get", page)

    rows = json.loads(get("/chats/bough_messages.json?session=cli:oaks&_shape=array"))
    assert [row["text"] for row in rows] == ["What is an oak?", "A tree.", None, "Long."]
    assert rows[2]["size"] == 15_000
    assert "bough_sessions" in get("/chats")


@program("pandas")
def test_pandas_reads_a_view(file: Path) -> None:
    code = (
        "import sqlite3, sys, pandas\n"
        "connection = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n"
        "frame = pandas.read_sql('SELECT * FROM bough_sessions', connection)\n"
        "print(frame.set_index('session').loc['cli:oaks', 'turns'])"
    )
    assert run("-c", code, str(file)) == "2\n"


@program("duckdb")
def test_duckdb_reads_the_archive_with_one_type_per_column(file: Path) -> None:
    with bough.connect(file) as store:
        file.with_suffix(".jsonl").write_text("".join(jsonl.everything(store)))
    code = (
        "import duckdb, sys\n"
        "lines = f\"read_json('{sys.argv[1]}', format='newline_delimited', union_by_name=true, sample_size=-1)\"\n"
        "print(duckdb.sql(f'SELECT sum(turn.usage.cost), sum(turn.usage.input_tokens) FROM {lines}').fetchall()[0])\n"
        "print(duckdb.sql(f'SELECT count(DISTINCT turn_id) > 2 FROM {lines} WHERE role IS NOT NULL').fetchall()[0])"
    )
    assert run("-c", code, str(file.with_suffix(".jsonl"))) == "(0.25, 10)\n(True,)\n"
