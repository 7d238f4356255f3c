"""`bough sql`: reading the store with SQL."""

from __future__ import annotations

import csv
import json

import pytest

import bough
from bough import Message, Text, ToolCall, ToolResult, assistant, user
from tests.cli.bough_process import Shell

LONG = "leaf " * 2000


def test_a_table_is_cut_to_a_hundred_rows_and_json_is_not(sh: Shell) -> None:
    count = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 150) SELECT n, 'x' AS x FROM c"
    with bough.connect(sh.db):
        pass
    shown = sh("sql", count)
    assert len(shown.out.splitlines()) == 101
    assert "There are more rows; -n N" in shown.err
    assert len(sh("sql", count, "-n", "7").out.splitlines()) == 8
    assert [row["n"] for row in json.loads(sh("sql", count, "--json").out)] == list(range(1, 151))
    assert len(json.loads(sh("sql", count, "--json", "-n", "3").out)) == 3


def test_any_content_is_text(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        calls = Text("look:"), ToolCall("c", "look", '{"at": 1}'), Text("there")
        ids = store.session("cli:a").save_turn([
            user(LONG), Message("assistant", calls), Message("tool_result", (ToolResult("c", (Text(LONG),)),)),
            assistant("nul \0"),
        ])  # fmt: skip
    query = "SELECT id, bough_text(id) AS text, bough_text(id, 1) AS second FROM bough_messages ORDER BY n"
    rows = json.loads(sh("sql", query, "--json").out)
    assert [row["id"] for row in rows] == ids
    assert [row["text"] for row in rows] == [LONG, "look:\nthere", LONG, "nul \0"]
    assert [row["second"] for row in rows] == [None, '{"at": 1}', None, None]
    none = sh("sql", "SELECT bough_text('nosuch') AS a, bough_text(NULL) AS b, bough_text('x', 'y') AS c", "--json")
    assert json.loads(none.out) == [{"a": None, "b": None, "c": None}]
    wrong = sh("sql", "SELECT bough_text(1, 2, 3)")
    assert (wrong.status, len(wrong.err.splitlines())) == (2, 1)


def test_csv_and_repeated_names(kept: Shell) -> None:
    rows = list(csv.reader(kept("sql", "SELECT 'a,\"b\"', 1.5, NULL, x'00ff'", "--csv").out.splitlines()))
    assert rows[1] == ['a,"b"', "1.5", "", "AP8="]
    assert json.loads(kept("sql", "SELECT 1 AS a, 2 AS a", "--json").out) == [{"a": 1, "a_2": 2}]
    assert "<2 bytes>" in kept("sql", "SELECT x'00ff' AS x, 1 AS y").out


def test_the_statement_may_come_from_stdin(kept: Shell) -> None:
    done = kept("sql", "-", "--json", stdin="SELECT count(*) AS n FROM bough_messages")
    assert json.loads(done.out) == [{"n": 20}]
    assert kept("sql", "-", stdin="").status == 2


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("sql", "SELECT nosuch FROM bough_messages"), 2, "no such column: nosuch"),
        (("sql", "SELEC 1"), 2, "syntax error"),
        (("sql", "SELECT 1; SELECT 2"), 2, "one"),
        (("sql", ""), 2, "empty"),
        (("sql", "SELECT 1", "--json", "--csv"), 2, "one of"),
        (("sql", "DELETE FROM messages"), 5, "nothing was changed"),
        (("sql", "PRAGMA journal_mode = DELETE"), 5, "nothing was changed"),
    ],
)
def test_a_mistake_is_one_line_and_a_status(kept: Shell, words: tuple[str, ...], status: int, message: str) -> None:
    done = kept(*words)
    assert (done.status, done.out, len(done.err.splitlines())) == (status, "", 1)
    assert message in done.err


def test_no_rows_and_no_store(kept: Shell) -> None:
    assert "No rows." in kept("sql", "SELECT 1 WHERE 0").err
    assert kept("sql", "SELECT 1 WHERE 0", "--json").out == "[]\n"
    assert json.loads(kept("--db", "nosuch.db", "sql", "SELECT 1").out or "[]") == []
    assert kept("--db", "nosuch.db", "sql", "SELECT 1").status == 3
