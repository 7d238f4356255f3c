"""Administration: confines roles to namespaces, and distributes the tables over a Citus cluster.

A row-level policy on every table shows only the rows of the namespace that a connection has set. That guards against
mistakes; a tenant who writes SQL of their own needs a role that is confined to one namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256

from psycopg import sql

from bough.db import PATIENCE
from bough.db.postgres.pool import Connection
from bough.db.postgres.schema import TABLES, is_distributed, migrate
from bough.db.postgres.server import PostgresServer
from bough.errors import Refused


def confine(url: str, role: str, namespace: str) -> None:
    """Lets a role use bough, in this one namespace only, whatever SQL it writes. Doing it again moves it to another.

    The role exists, owns nothing of bough and is no superuser. Raises `NotFound` for a role that does not exist, and
    `Refused` if the role of the URL may not do that.
    """
    whom, policy = sql.Identifier(role), sql.Identifier(policy_of(role))
    with _administration(url) as (_, connection), connection.transaction():
        _execute(connection, "GRANT USAGE ON SCHEMA bough TO {}", whom)
        _execute(connection, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA bough TO {}", whom)
        for table in TABLES:
            place = sql.Identifier("bough", table)
            _execute(connection, "DROP POLICY IF EXISTS {} ON {}", policy, place)
            restricted = "CREATE POLICY {} ON {} AS RESTRICTIVE TO {} USING (namespace = {})"
            _execute(connection, restricted, policy, place, whom, sql.Literal(namespace))


def policy_of(role: str) -> str:
    """The name of the policy that confines a role, as short as PostgreSQL wants it: no other role has the same."""
    return f"confines {sha256(role.encode()).hexdigest()[:32]}"


def distribute(url: str) -> list[str]:
    """Spreads the tables over the nodes of a Citus cluster, by namespace; which tables were spread.

    Tables that are spread already stay as they are. Raises `Refused` on a server without the Citus extension.
    """
    with _administration(url) as (name, connection):
        if not is_distributed(connection):
            raise Refused(
                f"{name} has no Citus extension: there is nothing to spread the tables over; they stay as they are. "
                "To have many machines, run CREATE EXTENSION citus there, add the nodes, and do this again."
            )
        first = f"bough.{TABLES[0]}"
        spread = {table for (table,) in connection.execute("SELECT logicalrelid::text FROM pg_dist_partition")}
        wanted = [f"bough.{table}" for table in TABLES if f"bough.{table}" not in spread]
        with connection.transaction():
            for table in wanted:  # what is referred to comes before what refers to it
                beside = "default" if table == first else first
                command = "SELECT create_distributed_table({}, 'namespace', colocate_with => {})"
                _execute(connection, command, sql.Literal(table), sql.Literal(beside))
        return wanted


@contextmanager
def _administration(url: str) -> Iterator[tuple[str, Connection]]:
    server = PostgresServer(url, 1, PATIENCE)
    try:
        with server.translate_errors(), server.pool.connection() as connection:
            migrate(connection, server.name)
            yield server.name, connection
    finally:
        server.pool.close()


def _execute(connection: Connection, command: str, *names: sql.Composable) -> None:
    connection.execute(sql.SQL(command).format(*names))
