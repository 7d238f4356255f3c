"""What only a Citus cluster shows. Without one these tests are skipped as not tested."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

import bough
from bough import Save, assistant, user
from bough.db import read_text
from bough.db.postgres.driver import PostgreSQL
from bough.db.postgres.naming import TABLES
from bough.db.postgres.tenancy import confine, distribute
from tests.reliability.checks import assert_sound

from .cluster import distributed, new_database, workers_of
from .test_failover import more_turns, write
from .test_migrations import described, next_steps
from .test_tenancy import as_role, plain_role, say


@pytest.fixture(scope="module")
def cluster(postgres: str) -> Iterator[str]:
    with distributed(postgres) as url:
        yield url


def test_every_table_is_distributed_by_namespace_and_placed_together(cluster: str) -> None:
    assert distribute(cluster) == []
    with psycopg.connect(cluster) as admin:
        found = admin.execute(
            "SELECT table_name::text, distribution_column, colocation_id FROM citus_tables ORDER BY 1"
        ).fetchall()
    assert [name for name, _, _ in found] == sorted(f"bough.{table}" for table in TABLES)
    assert len({(column, group) for _, column, group in found}) == 1


def test_every_node_can_be_entered(cluster: str, namespace: str) -> None:
    for count, url in enumerate([cluster, *workers_of(cluster)], start=1):
        with bough.connect(database_of(cluster, url), namespace=namespace) as store:
            say(store, f"hello from {count}")
            assert len(store.session("cli:a").path()) == 2 * count
            assert store.search("hello")
            assert store.verify() == []


def database_of(cluster: str, node: str) -> str:
    return f"{node.rpartition('/')[0]}/{cluster.rpartition('/')[2]}"


def test_a_confined_role_sees_no_other_namespace_whatever_it_sets(cluster: str, namespace: str) -> None:
    other = f"{namespace}-other"
    with bough.connect(cluster, namespace=other) as theirs:
        say(theirs, "a secret")
    with plain_role(cluster, f"tenant_{uuid4().hex}") as role:
        confine(cluster, role, namespace)
        for foreign in (other, f"{namespace}-new"):
            with pytest.raises(bough.Refused):
                bough.connect(as_role(cluster, role), namespace=foreign)
        with psycopg.connect(as_role(cluster, role)) as hand:
            hand.execute("SET LOCAL citus.propagate_set_commands TO 'local'")
            hand.execute(sql.SQL("SET LOCAL bough.namespace TO {}").format(sql.Literal(other)))
            for table in map(sql.Identifier, TABLES):
                seen = hand.execute(sql.SQL("SELECT count(*) FROM bough.{}").format(table)).fetchone()
                assert seen == (0,)
            assert hand.execute("UPDATE bough.messages SET label = 'x'").rowcount == 0
        with bough.connect(as_role(cluster, role), namespace=namespace) as mine:
            say(mine, "hello oak")
            assert len(mine.search("oak")) == 2
            mine.delete_session("cli:a")
            mine.restore("cli:a")
            assert mine.verify() == []


def test_patience_reaches_the_workers(cluster: str, namespace: str) -> None:
    with bough.connect(cluster, namespace=namespace, patience=0.5) as store, psycopg.connect(cluster) as other:
        other.execute("UPDATE bough.state SET writes = writes WHERE namespace = %s", [namespace])
        began = time.monotonic()
        with pytest.raises(bough.Busy):
            say(store, "hello")
        assert time.monotonic() - began < 10


def test_ordinary_writes_need_no_two_phase_commit(cluster: str, namespace: str) -> None:
    with bough.connect(cluster, namespace=namespace) as store, psycopg.connect(cluster, autocommit=True) as admin:
        count = "SELECT count(*) FROM pg_dist_transaction"
        before = admin.execute(count).fetchone()
        session = store.session("cli:a")
        session.save_turn([user("long " * 9000), assistant("yes")])
        with session.turn(user("q")) as turn:
            turn.add(assistant("a"))
        session.fork()
        store.save_messages([Save(user(f"{number}")) for number in range(300)])
        store.delete_session("cli:a")
        store.restore("cli:a")
        assert admin.execute(count).fetchone() == before


def test_a_distributed_database_is_migrated_and_its_new_tables_are_distributed(postgres: str, tmp_path: Path) -> None:
    step = """
        ALTER TABLE bough.sessions ADD COLUMN invented bigint;
        UPDATE bough.sessions SET invented = n;
        CREATE INDEX invented ON bough.sessions (namespace, invented)
    """
    with distributed(postgres) as url:
        with bough.connect(url, namespace="a") as store:
            say(store, "hello")
        PostgreSQL(url, namespace="a", migrations=next_steps(tmp_path / "steps", step)).close()
        with psycopg.connect(url) as admin:
            assert admin.execute("SELECT invented FROM bough.sessions").fetchall() == [(1,)]


def test_the_first_version_is_migrated_on_a_cluster_to_the_schema_of_a_new_one(postgres: str) -> None:
    with distributed(postgres) as new, new_database(postgres) as url:
        with psycopg.connect(url, autocommit=True) as admin:
            script = read_text("schema", "migrations", "0002-initial.postgres.sql")
            admin.execute(script.encode())
            admin.execute("COMMENT ON SCHEMA bough IS 'bough, schema 2'")
            for table in re.findall(r"CREATE TABLE (bough\.\w+)", script):
                admin.execute("SELECT create_distributed_table(%s, 'namespace')", [table])
        with bough.connect(url, namespace="a") as store:
            say(store, "hello")
            assert store.verify() == []
        assert without_versions(described(url)) == without_versions(described(new))
        assert distribute(url) == []


def without_versions(rows: list[object]) -> list[str]:
    """A description without the versions that the engine keeps of columns."""
    return [re.sub(r" \{(pg_attver=\d+,?)?", "", str(row)).replace("}", "") for row in rows]


def test_a_shard_is_moved_under_load(cluster: str, namespace: str) -> None:
    stopped = threading.Event()
    with bough.connect(cluster, namespace=namespace, patience=60) as store, ThreadPoolExecutor(2) as threads:
        writers = [threads.submit(write, store, f"w{number}", stopped) for number in range(2)]
        try:
            more_turns(store)
            with psycopg.connect(cluster, autocommit=True) as admin:
                shard, source, sport, target, tport = shard_of(admin, namespace)
                admin.execute(
                    "SELECT citus_move_shard_placement(%s, %s, %s, %s, %s, 'force_logical')",
                    [shard, source, sport, target, tport],
                )
                assert shard_of(admin, namespace)[1:3] == (target, tport)
            more_turns(store)
        finally:
            stopped.set()
        kept = sorted(turn for writer in writers for turn in writer.result())
        assert sorted(turn for turns in assert_sound(store).values() for turn in turns) == kept


def shard_of(admin: psycopg.Connection[tuple[object, ...]], namespace: str) -> tuple[object, ...]:
    """The shard of a namespace, the node where it is, and one where it is not."""
    row = admin.execute(
        """
        SELECT s.shardid, s.nodename, s.nodeport, n.nodename, n.nodeport
        FROM citus_shards s JOIN pg_dist_node n ON n.groupid > 0 AND n.nodeport <> s.nodeport
        WHERE s.shardid = get_shard_id_for_distribution_column('bough.state', %s::text) LIMIT 1
        """,
        [namespace],
    ).fetchone()
    assert row is not None
    return row
