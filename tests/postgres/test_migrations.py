"""Creation and migration of the schema, also by concurrent processes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import psycopg
import pytest

import bough
from bough import Store, assistant, user
from bough.db.migrations import SCHEMA, VERSION
from bough.db.postgres.driver import PostgreSQL
from bough.db.postgres.schema import LOCK, split
from tests.conftest import empty_database
from tests.reliability.processes import run_together

DESCRIPTION = """
    SELECT 'column', c.relname, a.attname, concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull,
           a.attstorage, pg_get_expr(d.adbin, d.adrelid), a.attoptions)
    FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relnamespace = 'bough'::regnamespace AND a.attnum > 0 AND c.relkind = 'r'
    UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'bough'
    UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'bough'::regnamespace
    UNION ALL SELECT 'policy', tablename, policyname, qual FROM pg_policies WHERE schemaname = 'bough'
    UNION ALL SELECT 'fence', relname, relrowsecurity::text, relforcerowsecurity::text FROM pg_class
    WHERE relnamespace = 'bough'::regnamespace AND relkind = 'r'
    ORDER BY 1, 2, 3, 4
"""


def described(url: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(DESCRIPTION.encode()).fetchall()


def next_steps(directory: Path, *steps: str) -> Path:
    """The migrations there are, and some that do not exist yet."""
    directory.mkdir()
    for path in (Path(SCHEMA) / "migrations").glob("*.postgres.sql"):
        shutil.copy(path, directory)
    for number, step in enumerate(steps, start=VERSION + 1):
        (directory / f"{number:04}-invented.postgres.sql").write_text(step)
    return directory


def test_the_sum_of_the_migrations_is_the_schema(postgres: str, empty: str, tmp_path: Path) -> None:
    PostgreSQL(empty, migrations=next_steps(tmp_path / "steps")).close()
    with empty_database(postgres) as new:
        bough.connect(new).close()
        assert described(empty) == described(new)
    assert len(described(empty)) > 100


def open_and_say(url: str, number: int, migrations: Path | None) -> list[str]:
    with Store(PostgreSQL(url, migrations=migrations, patience=60)) as store:
        return store.session("cli:a").save_turn([user(f"{number}"), assistant("yes")], wait=60)


def test_ten_concurrent_processes_create_the_schema_once(empty: str) -> None:
    said = run_together(open_and_say, [(empty, number, None) for number in range(10)])
    with bough.connect(empty) as store:
        assert len(store.session("cli:a").path()) == sum(map(len, said)) == 20
        assert store.verify() == []


def test_ten_concurrent_processes_migrate_once_without_loss(empty: str, tmp_path: Path) -> None:
    open_and_say(empty, 0, None)
    steps = next_steps(
        tmp_path / "steps",
        "CREATE TABLE bough.invented (namespace text PRIMARY KEY, n bigint)",
        "INSERT INTO bough.invented SELECT namespace, max(n) FROM bough.messages GROUP BY namespace",
    )
    run_together(open_and_say, [(empty, number, steps) for number in range(10)])
    with psycopg.connect(empty) as admin:
        assert admin.execute("SELECT n FROM bough.invented").fetchall() == [(2,)]


@pytest.mark.parametrize("held", ["the lock of a migration", "a table"])
def test_a_migration_does_not_wait_without_end(empty: str, tmp_path: Path, held: str) -> None:
    open_and_say(empty, 0, None)
    steps = next_steps(tmp_path / "steps", "ALTER TABLE bough.sessions ADD COLUMN invented bigint")
    with psycopg.connect(empty) as other:
        if held == "a table":
            other.execute("LOCK bough.sessions IN ACCESS SHARE MODE")
        else:
            other.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        with pytest.raises(bough.Busy):
            PostgreSQL(empty, migrations=steps, patience=0.3)
        other.rollback()
    PostgreSQL(empty, migrations=steps).close()


def test_a_script_is_divided_into_its_statements() -> None:
    script = """
        -- A comment; with a semicolon.
        CREATE TABLE a (b text DEFAULT ';', "c;d" int); -- another; one
        DO $x$ BEGIN; PERFORM $$;$$; END $x$;
        SELECT 'it''s; one', $1 - 2;;
    """
    assert [" ".join(statement.split()) for statement in split(script)] == [
        """CREATE TABLE a (b text DEFAULT ';', "c;d" int)""",
        "DO $x$ BEGIN; PERFORM $$;$$; END $x$",
        "SELECT 'it''s; one', $1 - 2",
    ]


def test_a_failed_migration_changes_nothing(empty: str, tmp_path: Path) -> None:
    open_and_say(empty, 0, None)
    before = described(empty)
    steps = next_steps(tmp_path / "steps", "CREATE TABLE bough.invented (n bigint)", "DROP TABLE bough.nothing")
    with pytest.raises(bough.StorageError, match="nothing"):
        PostgreSQL(empty, migrations=steps)
    assert described(empty) == before
    bough.connect(empty).close()


def test_a_newer_schema_is_refused_and_not_changed(empty: str) -> None:
    bough.connect(empty).close()
    with psycopg.connect(empty, autocommit=True) as admin:
        admin.execute(f"COMMENT ON SCHEMA bough IS 'bough, schema {VERSION + 1}'".encode())
    with pytest.raises(bough.SchemaTooNew):
        bough.connect(empty)


def test_a_foreign_schema_of_the_same_name_is_not_changed(empty: str) -> None:
    with psycopg.connect(empty, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA bough; CREATE TABLE bough.messages (mine text)")
    with pytest.raises(bough.Refused, match="did not make"):
        bough.connect(empty)
