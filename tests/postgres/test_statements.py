"""Both engines have the same statements, and each PostgreSQL statement uses one namespace only."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import bough
from bough.db import read_statements
from bough.db.postgres import namespaces
from bough.db.postgres.namespaces import in_namespace
from bough.db.postgres.naming import TABLES
from bough.db.postgres.transaction import STATEMENTS

OF_THE_ENGINE = {"settings", "queue", "evidence", "make_namespace", "blob_window"}
"""Statements of the PostgreSQL driver alone."""
OF_SQLITE = {"merge_index", "merge_some", "rows_written"}
"""Statements for an index that cannot delete by key."""


@pytest.fixture(scope="module")
def admin(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    bough.connect(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


def test_both_engines_have_the_same_statements() -> None:
    assert set(read_statements("postgres")) - OF_THE_ENGINE == set(read_statements("sqlite")) - OF_SQLITE


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("SELECT n FROM messages WHERE id = ?", "SELECT n FROM ({messages}) messages WHERE id = $2"),
        (
            "SELECT 1 FROM turns t LEFT JOIN sessions s ON s.n = t.session WHERE t.n < ?2 AND s.n = ?1",
            "SELECT 1 FROM ({turns}) t LEFT JOIN LATERAL (SELECT * FROM bough.sessions s WHERE s.namespace = $1 "
            "AND s.n = t.session OFFSET 0) s ON true WHERE t.n < $3 AND s.n = $2",
        ),
        (
            "SELECT 1 FROM turns t JOIN sessions s ON s.n = t.session "
            "WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.n = 1)",
            "SELECT 1 FROM ({turns}) t JOIN ({sessions}) s ON s.n = t.session "
            "WHERE NOT EXISTS (SELECT 1 FROM ({messages}) m WHERE m.n = 1 OFFSET 0)",
        ),
        ("DELETE FROM search", "DELETE FROM bough.search AS search WHERE search.namespace = $1 AND (true)"),
        (
            "UPDATE turns SET last = (SELECT max(n) FROM messages WHERE n > 1) WHERE n = ? OR n = ? RETURNING n",
            "UPDATE bough.turns AS turns SET last = (SELECT max(n) FROM ({messages}) messages WHERE n > 1) "
            "WHERE turns.namespace = $1 AND (n = $2 OR n = $3) RETURNING n",
        ),
        (
            "INSERT INTO sketches (turn, content) VALUES (?, ?) ON CONFLICT (turn) DO NOTHING",
            "INSERT INTO bough.sketches (namespace, turn, content) VALUES ($1, $2, $3) "
            "ON CONFLICT (namespace, turn) DO NOTHING",
        ),
        (
            "SELECT id FROM messages WHERE n IN (SELECT value FROM json_each(?))",
            "SELECT id FROM ({messages}) messages WHERE n IN "
            "(SELECT value FROM unnest(CAST($2 AS bigint[])) wanted (value))",
        ),
    ],
)
def test_a_statement_gets_the_condition_of_a_namespace(said: str, meant: str) -> None:
    parts = {table: f"SELECT * FROM bough.{table} WHERE namespace = $1" for table in TABLES}
    assert in_namespace(said) == meant.format(**parts)


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - {"settings"}))
def test_the_planner_reads_and_writes_one_namespace_only(admin: psycopg.Connection[Any], name: str) -> None:
    """Asked of the planner itself: whatever it touches of a table of ours, it touches for `namespace = $1`."""
    assert trespasses(admin, STATEMENTS[name]) == []


def trespasses(admin: psycopg.Connection[Any], statement: str) -> list[str]:
    """The accesses of a statement outside its namespace, by its plan."""
    if admin.info.server_version < 160_000:
        pytest.skip("not tested: this server cannot plan a statement without its parameters")
    plan = admin.execute(f"EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) {statement}".encode()).fetchone()
    assert plan is not None
    touched = [node for node in nodes(plan[0][0]["Plan"]) if node.get("Schema") == "bough"]
    assert touched, "it touches no table"
    found = (
        ["it changes the namespace of a row"] if re.search(r"\bSET\b((?!WHERE).)*[ ,]namespace =", statement) else []
    )
    for node in touched:
        if node["Node Type"] != "ModifyTable":
            conditions = [node.get(key, "") for key in ("Index Cond", "Filter", "Recheck Cond")]
            if not any(map(is_narrow, conditions)):
                found.append(f"it reads everybody's: {node}")
        elif node["Operation"] == "Insert" and not re.search(r"^\(?\$1\b", written(node)):
            found.append(f"it writes {written(node)} into the namespace")
    return found


def is_narrow(condition: str) -> bool:
    """Whether one of the conditions that must all hold is that the namespace is ours."""
    parts = condition.split(" AND ")
    return any(re.fullmatch(r"\(*(\w+\.)?namespace = \(?\$1(\)::text)?\)*", part) for part in parts)


def written(node: dict[str, Any]) -> str:
    """What goes into the first column."""
    source = '"*SELECT*"'
    while source.startswith('"*SELECT*"'):
        (node,) = [below for below in node["Plans"] if below["Parent Relationship"] in ("Outer", "Subquery")]
        source = node["Output"][0]
    return source


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The nodes of a plan, from the top."""
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.get("Plans", [])


UNLED = """
    SELECT c.conname FROM pg_constraint c
    LEFT JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
    LEFT JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]
    WHERE c.connamespace = 'bough'::regnamespace AND c.contype IN ('p', 'u', 'f', 'x')
    AND (a.attname IS DISTINCT FROM 'namespace' OR f.attname <> 'namespace' OR c.contype = 'x')
    UNION ALL
    SELECT x.relname FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
    LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
    WHERE x.relnamespace = 'bough'::regnamespace AND (m.amname = 'btree' OR i.indisunique)
    AND a.attname IS DISTINCT FROM 'namespace'
    UNION ALL
    SELECT relname FROM pg_class WHERE relnamespace = 'bough'::regnamespace AND relkind IN ('S', 'v', 'm')
    AND (relkind <> 'v' OR left(relname, 6) <> 'bough_')
    UNION ALL
    SELECT tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
    WHERE c.relnamespace = 'bough'::regnamespace AND NOT tgisinternal
    UNION ALL
    SELECT attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    WHERE c.relnamespace = 'bough'::regnamespace AND c.relkind = 'r' AND a.attnum = 1 AND attname <> 'namespace'
    UNION ALL
    SELECT proname FROM pg_proc WHERE pronamespace = 'bough'::regnamespace
"""
"""Changes that a sharding engine would refuse."""


def test_every_key_reference_and_index_begins_with_the_namespace(
    admin: psycopg.Connection[Any],
) -> None:
    assert admin.execute(UNLED.encode()).fetchall() == []
    tables = admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'bough' ORDER BY 1").fetchall()
    assert [name for (name,) in tables] == sorted(TABLES)


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE bough.sketches ADD CONSTRAINT broken UNIQUE (turn, namespace)",
        "CREATE INDEX broken ON bough.sessions (key, namespace)",
        "CREATE UNIQUE INDEX broken ON bough.sessions (lower(key)) WHERE false",
        "CREATE TABLE bough.more (broken bigint, namespace text, PRIMARY KEY (namespace, broken))",
        "ALTER TABLE bough.sketches ADD CONSTRAINT broken EXCLUDE (turn WITH =) WHERE (false)",
        "ALTER TABLE bough.sessions ADD UNIQUE (namespace, n, key), "
        "ADD CONSTRAINT broken FOREIGN KEY (key, n, namespace) REFERENCES bough.sessions (key, n, namespace)",
        "CREATE SEQUENCE bough.broken",
        "CREATE VIEW bough.broken AS SELECT 1",
        "CREATE FUNCTION bough.broken() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ],
)
def test_the_check_detects_a_schema_that_breaks_a_rule(admin: psycopg.Connection[Any], change: str) -> None:
    with admin.transaction(force_rollback=True):
        if "REFERENCES" in change:
            admin.execute("ALTER TABLE bough.sessions ADD UNIQUE (key, n, namespace)")
        admin.execute(change.encode())
        assert ("broken",) in admin.execute(UNLED.encode()).fetchall()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT n FROM bough.messages WHERE id = $2 AND $1 <> ''",
        "SELECT m.n FROM bough.messages m JOIN bough.turns t ON t.n = m.turn WHERE t.namespace = $1",
        "SELECT n FROM bough.messages WHERE namespace = $1 OR id = $2",
        "UPDATE bough.sketches SET content = $1",
        "DELETE FROM bough.sketches WHERE turn = (SELECT min(n) FROM bough.turns WHERE namespace = $1)",
        "INSERT INTO bough.sketches (namespace, turn, content) VALUES ($2, 1, $1)",
        "INSERT INTO bough.sketches (namespace, turn, content) SELECT namespace, 1, $1 FROM bough.turns",
        "UPDATE bough.sketches SET namespace = $2 WHERE namespace = $1",
    ],
)
def test_the_check_detects_a_statement_that_breaks_a_rule(admin: psycopg.Connection[Any], statement: str) -> None:
    assert trespasses(admin, statement)


def test_the_file_of_statements_is_up_to_date() -> None:
    with open(namespaces.FILE, encoding="utf-8") as file:
        assert file.read() == namespaces.generate(), "run `make docs`"


def without_spaces(statement: str) -> str:
    return re.sub(r"\s*([()])\s*", r"\1", statement)


def test_formatting_changes_no_statement() -> None:
    for name, statement in read_statements("postgres").items():
        assert without_spaces(STATEMENTS[name]) == without_spaces(re.sub(" +", " ", in_namespace(statement))), name


def test_a_running_program_does_not_load_the_generator() -> None:
    script = "import bough.db.postgres.driver, sys; print('bough.db.postgres.namespaces' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout == b"False\n"
