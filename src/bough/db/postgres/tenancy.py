"""Administration: confines roles to namespaces, and distributes the tables over a Citus cluster.

A row-level policy on every table shows only the rows of the namespace that a connection has set. That guards against
mistakes; a tenant who writes SQL of their own needs a role that is confined to one namespace.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from bough.db import PATIENCE
from bough.db.migrations import VERSION
from bough.db.postgres import cluster, policies
from bough.db.postgres.pool import Connection
from bough.db.postgres.schema import mark, migrate, prepare
from bough.db.postgres.server import PostgresServer
from bough.errors import Refused


def confine(url: str, role: str, namespace: str) -> None:
    """Lets a role use bough, in this one namespace only, whatever SQL it writes. Doing it again moves it to another.

    The role exists, and is no superuser, no owner of the tables and no member of a role with rights on them. Raises
    `NotFound` for a role that does not exist, and `Refused` for one with other rights, or if the role of the URL may
    not do that.
    """
    with _administration(url) as (_, connection), connection.transaction():
        prepare(connection, PATIENCE)
        policies.confine(connection, role, namespace)


def distribute(url: str) -> list[str]:
    """Distributes the tables over the nodes of a Citus cluster, by namespace; which tables were distributed.

    Tables that are distributed already stay as they are. Row-level security then no longer applies to their owner, whom
    it would keep from moving shards: applications connect as another role. Run it again when a node was added. Raises
    `Refused` on a server without the Citus extension.
    """
    with _administration(url) as (name, connection):
        if not cluster.has_extension(connection):
            raise Refused(
                f"{name} has no Citus extension: there is nothing to spread the tables over; they stay as they are. "
                "To have many machines, run CREATE EXTENSION citus there, add the nodes, and do this again."
            )
        with connection.transaction():
            prepare(connection, PATIENCE)
            wanted = cluster.distribute(connection)
            mark(connection, VERSION)
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
