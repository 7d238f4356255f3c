"""The views for other programs: the same rows and types on every engine, in SQL that an older SQLite understands."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Invalid, Message, Refused, Store, Text, Thinking, ToolCall, ToolResult, Usage, assistant, user
from bough.model.times import iso

VIEWS = "bough_messages", "bough_replies", "bough_turns", "bough_sessions"
LONG = "leaf " * 2000


@pytest.fixture
def store(anywhere: dict[str, Any]) -> Iterator[Store]:
    with bough.connect(**anywhere) as opened:
        yield opened


def select(store: Store, sql: str) -> list[dict[str, Any]]:
    with store.db.select(sql, {}) as (columns, rows):
        return [dict(zip(columns, row, strict=True)) for row in rows]


def talk(store: Store) -> list[str]:
    session = store.session("telegram:7", title="Trees", directory="/tmp/a")
    ids = session.save_turn([user("What?\nWho?"), assistant(LONG)], model="oak-1", provider="woods")
    calls = Thinking("hm"), Text("one"), Text("two"), ToolCall("c", "look", '{"at": 1}')
    results = ToolResult("c", (Text("found"),)), ToolResult("d", (Text("a"), Text("b")), True)
    ids += session.save_turn([user("Again"), Message("assistant", calls), Message("tool_result", results),
                              assistant("é")], usage=Usage(10, 20, cost=0.5), model="oak-2")  # fmt: skip
    store.label(ids[0], "topic")
    return ids


def test_messages_have_their_text_or_its_size(store: Store) -> None:
    ids = talk(store)
    rows = select(store, "SELECT * FROM bough_messages ORDER BY n")
    assert [row["id"] for row in rows] == ids
    assert [row["parent_id"] for row in rows] == [None, *ids[:-1]]
    assert [row["turn_id"] for row in rows] == [ids[0]] * 2 + [ids[2]] * 4
    assert [row["text"] for row in rows] == ["What?\nWho?", None, "Again", "one\ntwo", "found\na\nb", "é"]
    assert [row["size"] for row in rows] == [10, len(LONG), 5, 6, 7, 2]
    assert [row["role"] for row in rows] == ["user", "assistant", "user", "assistant", "tool_result", "assistant"]
    assert {row["session"] for row in rows} == {"telegram:7"}
    assert {row["kind"] for row in rows} == {"message"}
    assert rows[0]["label"] == "topic"
    times = [iso(node.created_at) for node in store.get_messages(ids)]
    assert [row["created_at"] for row in rows] == times


def test_a_message_without_text_has_none_and_a_text_that_no_column_holds_has_a_size(store: Store) -> None:
    call = Message("assistant", (ToolCall("c", "look", "{}"),))
    store.save_messages([bough.Save(call), bough.Save(user("nul \0")), bough.Save(user(""))])
    rows = select(store, "SELECT text, size, session, turn_id, created_at FROM bough_messages ORDER BY n")
    assert [row["text"] for row in rows] == [None, None, ""]
    assert (rows[0]["size"], rows[2]["size"]) == (0, 0)
    assert rows[1]["size"] > 0
    assert {row["session"] for row in rows} == {row["turn_id"] for row in rows} == {None}


def test_turns_have_ids_times_and_cost(store: Store) -> None:
    ids = talk(store)
    first, second = select(store, "SELECT * FROM bough_turns ORDER BY n")
    assert (first["id"], first["parent_id"], first["last_id"], first["model"]) == (ids[0], None, ids[1], "oak-1")
    assert (second["id"], second["parent_id"], second["last_id"]) == (ids[2], ids[1], ids[5])
    assert (second["status"], second["cost"], second["input_tokens"], first["cost"]) == ("complete", 0.5, 10, None)
    info = store.turn_info(ids[2])
    assert (second["started_at"], second["finished_at"]) == (iso(info.started_at), iso(info.finished_at))


def test_sessions_have_their_head_and_count_their_turns(store: Store) -> None:
    ids = talk(store)
    delegate = store.session("telegram:7").delegate("scout")
    delegate.save_turn([user("Go"), assistant("Gone")])
    session, child = select(store, "SELECT * FROM bough_sessions ORDER BY session")
    assert (session["session"], session["channel"], session["channel_id"]) == ("telegram:7", "telegram", "7")
    assert (session["title"], session["directory"], session["head_id"]) == ("Trees", "/tmp/a", ids[-1])
    assert (session["turns"], child["turns"], child["parent"]) == (2, 1, "telegram:7")
    assert session["created_at"] < session["updated_at"]


def test_replies_have_a_row_each(store: Store) -> None:
    columns = set()
    talk(store)
    with store.db.select("SELECT * FROM bough_replies", {}) as (names, rows):
        columns.update(names)
        list(rows)
    assert columns >= {"message_id", "turn_id", "session", "model", "provider", "cost", "finished_at"}


def test_both_engines_have_the_same_columns(tmp_path: Path, postgres: str, namespace: str) -> None:
    with bough.connect(tmp_path / "a.db") as one, bough.connect(postgres, namespace=namespace) as other:
        for view in VIEWS:
            with (
                one.db.select(f"SELECT * FROM {view}", {}) as (columns, _),
                other.db.select(f"SELECT * FROM {view}", {}) as (others, _),
            ):
                assert columns == others, view


def test_the_views_show_one_namespace(postgres: str, namespace: str) -> None:
    with (
        bough.connect(postgres, namespace=f"{namespace}-2") as other,
        bough.connect(postgres, namespace=namespace) as mine,
    ):
        talk(other)
        assert [select(mine, f"SELECT * FROM {view}") for view in VIEWS] == [[], [], [], []]
        assert len(select(other, "SELECT * FROM bough_messages")) == 6


def test_an_older_sqlite_reads_every_view_and_the_index(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "a.db") as store:
        talk(store)
        store.search("leaf")
        reader = sqlite3.connect(f"{(tmp_path / 'a.db').as_uri()}?mode=ro", uri=True)  # of the standard library
        for (name,) in reader.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall():
            reader.execute(f"SELECT count(*) FROM [{name}]").fetchall()
        assert len(reader.execute("SELECT * FROM bough_messages").fetchall()) == 6
        assert reader.execute("SELECT rowid FROM search WHERE search MATCH 'leaf'").fetchall() == [(2,)]
        assert reader.execute("PRAGMA page_size").fetchone() == (4096,)
        reader.close()


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM {0}messages", "UPDATE {0}messages SET label = 'x'", "CREATE TABLE trees (a integer)",
     "WITH gone AS (DELETE FROM {0}changes RETURNING *) SELECT * FROM gone", "DROP VIEW bough_messages"],
)  # fmt: skip
def test_what_writes_is_refused(store: Store, sql: str) -> None:
    talk(store)
    with pytest.raises((Refused, Invalid)):
        select(store, sql.format(""))
    assert len(select(store, "SELECT id FROM bough_messages WHERE label = 'topic'")) == 1


@pytest.mark.parametrize("sql", ["ATTACH 'other.db' AS other", "PRAGMA user_version = 9", "PRAGMA query_only = 0",
                                 "VACUUM INTO 'copy.db'", "BEGIN", "SELECT load_extension('x')"])  # fmt: skip
def test_nothing_outside_of_the_file_is_touched(tmp_path: Path, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with bough.connect("a.db") as store, pytest.raises((Refused, Invalid)):
        select(store, sql)
    assert not [path for path in tmp_path.iterdir() if path.name in ("other.db", "copy.db")]


def test_a_mistake_is_invalid_and_says_what_is_wrong(store: Store) -> None:
    with pytest.raises(Invalid, match="nosuch"):
        select(store, "SELECT nosuch FROM bough_messages")
    with pytest.raises(Invalid, match="SELEC"):
        select(store, "SELEC 1")
    with pytest.raises(Invalid):
        select(store, "SELECT 1; SELECT 2")
    assert select(store, "SELECT 1 AS one") == [{"one": 1}]


def test_a_transaction_on_a_server_cannot_be_made_to_write(postgres: str, namespace: str) -> None:
    with bough.connect(postgres, namespace=namespace) as store:
        for sql in ("SELECT set_config('transaction_read_only', 'off', true)", "SET TRANSACTION READ WRITE"):
            with pytest.raises((Refused, Invalid)):
                select(store, sql)
        with pytest.raises(Invalid, match="db copy"), store.db.select("SELECT bough_text('x')", {"bough_text": len}):
            pass


def test_a_store_in_memory_can_be_asked_too() -> None:
    with bough.connect(":memory:") as store:
        talk(store)
        assert len(select(store, "SELECT * FROM bough_turns")) == 2
        with pytest.raises(Refused):
            select(store, "DELETE FROM turns")
        assert len(store.turns()) == 2
