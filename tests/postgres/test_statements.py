"""The same statements for both engines, and on PostgreSQL every one of them about one namespace."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

import bough
from bough.db import read_statements
from bough.db.postgres.namespaces import TABLES, in_namespace
from bough.db.postgres.transaction import STATEMENTS

OF_THE_ENGINE = {"settings", "queue", "evidence", "make_namespace", "blob_window"}
"""What only PostgreSQL needs, and no verb of the store says."""


@pytest.fixture(scope="module")
def admin(postgres: str) -> Iterator[psycopg.Connection[Any]]:
    bough.connect(postgres).close()
    with psycopg.connect(postgres, autocommit=True) as connection:
        yield connection


def test_both_engines_have_the_same_statements() -> None:
    assert set(read_statements("postgres")) - OF_THE_ENGINE == set(read_statements("sqlite"))


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
def test_a_statement_is_put_into_a_namespace(said: str, meant: str) -> None:
    parts = {table: f"SELECT * FROM bough.{table} WHERE namespace = $1" for table in TABLES}
    assert in_namespace(said) == meant.format(**parts)


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - {"settings"}))
def test_the_planner_reads_and_writes_one_namespace_only(admin: psycopg.Connection[Any], name: str) -> None:
    """Asked of the planner itself: whatever it touches of a table of ours, it touches for `namespace = $1`."""
    if admin.info.server_version < 160_000:
        pytest.skip("this server cannot plan a statement without its parameters")
    statement = STATEMENTS[name]
    plan = admin.execute(f"EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) {statement}".encode()).fetchone()
    assert plan is not None
    touched = [node for node in nodes(plan[0][0]["Plan"]) if node.get("Schema") == "bough"]
    assert touched, "it touches no table"
    for node in touched:
        if node["Node Type"] != "ModifyTable":
            conditions = " ".join(node.get(key, "") for key in ("Index Cond", "Filter", "Recheck Cond"))
            assert re.search(r"namespace = \(?\$1\b", conditions), f"{name} reads everybody's: {node}"
        elif node["Operation"] == "Insert":
            assert re.search(r"\$1\b", written(node)), f"{name} writes {written(node)} into the namespace"


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


def test_every_key_reference_and_index_is_led_by_the_namespace(admin: psycopg.Connection[Any]) -> None:
    """The rules of an engine that distributes by the first column."""
    led = admin.execute(
        """
        SELECT c.conrelid::regclass || ' ' || c.conname, a.attname, f.attname FROM pg_constraint c
        LEFT JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
        LEFT JOIN pg_attribute f ON f.attrelid = c.confrelid AND f.attnum = c.confkey[1]
        WHERE c.connamespace = 'bough'::regnamespace AND c.contype IN ('p', 'u', 'f')
        UNION ALL
        SELECT i.indexrelid::regclass::text, a.attname, NULL FROM pg_index i
        JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
        JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE x.relnamespace = 'bough'::regnamespace AND m.amname = 'btree'
        """
    ).fetchall()
    assert len(led) > 2 * len(TABLES)
    assert [row for row in led if row[1] != "namespace" or row[2] not in (None, "namespace")] == []


def test_there_are_no_sequences_triggers_or_columns_before_the_namespace(admin: psycopg.Connection[Any]) -> None:
    (found,) = admin.execute(
        """
        SELECT array(SELECT relname FROM pg_class c
                     WHERE c.relnamespace = 'bough'::regnamespace AND c.relkind IN ('S', 'v', 'm'))
            || array(SELECT tgname FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
                     WHERE c.relnamespace = 'bough'::regnamespace AND NOT tgisinternal)
            || array(SELECT relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1
                     WHERE c.relnamespace = 'bough'::regnamespace AND c.relkind = 'r' AND a.attname <> 'namespace')
        """
    ).fetchone() or ([],)
    assert found == []
    assert json.dumps(sorted(TABLES)) == json.dumps(
        [name for (name,) in admin.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'bough' ORDER BY 1")]
    )
