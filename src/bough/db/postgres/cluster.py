"""A Citus cluster: which tables are distributed, and how they become so.

Every name is qualified: whoever may create functions in a schema of the search path must not be called here.
"""

from __future__ import annotations

from psycopg import sql

from bough.db.postgres.naming import TABLES
from bough.db.postgres.pool import Connection
from bough.errors import StorageError

SPREAD = """
    SELECT c.relname FROM pg_catalog.pg_dist_partition p JOIN pg_catalog.pg_class c ON c.oid = p.logicalrelid
    WHERE c.relnamespace = 'bough'::regnamespace
"""


def has_extension(connection: Connection) -> bool:
    """Whether the database has the Citus extension."""
    row = connection.execute("SELECT true FROM pg_catalog.pg_extension WHERE extname = 'citus'").fetchone()
    return row is not None


def is_distributed(connection: Connection) -> bool:
    """Whether the tables are distributed over a cluster; every node of it says so."""
    return has_extension(connection) and bool(connection.run(f"{SPREAD} LIMIT 1").fetchone())


def distribute(connection: Connection) -> list[str]:
    """Distributes the tables that are not distributed yet, in the transaction of the caller; their names.

    No policy is forced upon the owner of the tables: the cluster moves shards as the owner, and PostgreSQL does not
    replicate into a table whose policies apply to the role that does it.
    """
    spread = {table for (table,) in connection.run(SPREAD)}
    first, wanted = f"{connection.schema}.{TABLES[0]}", [table for table in TABLES if table not in spread]
    for table in TABLES:
        connection.compose("ALTER TABLE {} NO FORCE ROW LEVEL SECURITY", sql.Identifier(connection.schema, table))
    for table in wanted:  # what is referred to comes before what refers to it
        beside = "default" if table == TABLES[0] else first
        command = "SELECT pg_catalog.create_distributed_table({}, 'namespace', colocate_with => {})"
        connection.compose(command, sql.Literal(f"{connection.schema}.{table}"), sql.Literal(beside))
    return [f"{connection.schema}.{table}" for table in wanted]


def run_on_workers(connection: Connection, command: str) -> None:
    """Runs a command on every other node. Raises `StorageError` when one does not do it."""
    for node, port, done, result in connection.execute(
        "SELECT nodename, nodeport, success, result FROM pg_catalog.run_command_on_workers($1)", (command,)
    ).fetchall():
        if not done:
            raise StorageError(f"The node {node}:{port} did not do its part: {result}. Nothing was changed.")
