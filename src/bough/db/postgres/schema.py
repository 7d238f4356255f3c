"""Creates and migrates the schema of a PostgreSQL database, once, however many processes start together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.db import PATIENCE, StrPath, read_text
from bough.db.migrations import VERSION, steps
from bough.db.postgres import cluster, policies
from bough.db.postgres.naming import TABLES
from bough.db.postgres.pool import Connection
from bough.errors import Refused, SchemaTooNew

LOCK = 0x626F7567  # "boug"
PIECE = re.compile(r"""--[^\n]*|'(?:[^']|'')*'|"[^"]*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|;|[^;'"$-]+|.""", re.DOTALL)
"""A comment, a quoted text, the end of a statement, or what is between them."""


def migrate(connection: Connection, where: str, directory: StrPath | None = None, patience: float = PATIENCE) -> None:
    """Creates the schema, or migrates it to the newest version, in one transaction under one advisory lock.

    Raises `Busy` when another process that does it, or that holds a table, is waited for too long.
    """
    newest = max([VERSION, *(version for version, _ in steps("postgres", directory))])
    if version_of(connection, where, newest) == newest:
        return
    with connection.transaction():
        prepare(connection, patience)
        connection.execute("SELECT pg_catalog.pg_advisory_xact_lock($1)", (LOCK,))
        version = version_of(connection, where, newest)  # another process may have been first
        if version == newest:
            return
        if version == 0 and directory is None:
            run_script(connection, read_text("schema", "postgres.sql"))
        for number, script in steps("postgres", directory) if version or directory else ():
            if number > version:
                run_script(connection, script)
        if version:
            policies.extend(connection)
        if cluster.is_distributed(connection):
            cluster.distribute(connection)
        mark(connection, newest)


def prepare(connection: Connection, patience: float) -> None:
    """Settings of a transaction that changes the schema: no wait without end, and no name but those that we qualify."""
    connection.execute(f"SET LOCAL lock_timeout TO {max(1, int(patience * 1000))}")
    connection.execute("SET LOCAL search_path TO pg_catalog, pg_temp")
    if cluster.has_extension(connection):
        connection.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")


def run_script(connection: Connection, script: str) -> None:
    """Runs the statements of a script one by one: a distributed table takes no more than one in a command."""
    for statement in split(script):
        connection.run(statement)


def split(script: str) -> Iterator[str]:
    """The statements of a script."""
    statement, is_empty = "", True
    for piece in PIECE.finditer(script):
        if piece[0] == ";":
            if not is_empty:
                yield statement.strip()
            statement, is_empty = "", True
        elif not piece[0].startswith("--"):
            statement += piece[0]
            is_empty = is_empty and not piece[0].strip()
    if not is_empty:
        yield statement.strip()


def mark(connection: Connection, version: int) -> None:
    """Writes the version of the schema to where `version_of` reads it, on every node of a cluster."""
    comment = connection.in_schema(f"COMMENT ON SCHEMA bough IS 'bough, schema {version}'")
    connection.execute(comment.encode())
    if cluster.is_distributed(connection):
        cluster.run_on_workers(connection, comment)


def version_of(connection: Connection, where: str, newest: int) -> int:
    """The version of the schema; 0 for none. Raises `SchemaTooNew`, and `Refused` for what is not ours."""
    row = connection.run(
        "SELECT pg_catalog.obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace WHERE nspname = 'bough'"
    ).fetchone()
    if row is None:
        return 0
    match = re.fullmatch(r"bough, schema (\d+)", row[0] or "")
    if match is None:
        if row[0] is None and cluster.is_distributed(connection):
            raise Refused(
                f"{where} is a node that was added after the tables were distributed, and does not know the version "
                "of the schema; run `bough db init --distributed` on the coordinator again."
            )
        raise Refused(f"{where} has a schema called {connection.schema} that bough did not make; it was left alone.")
    version = int(match[1])
    if version > newest:
        raise SchemaTooNew(
            f"{where} was written by a newer bough (schema {version}, this one supports {newest}); "
            "upgrade bough to use it. It was left alone."
        )
    return version


__all__ = ["TABLES", "mark", "migrate", "prepare", "run_script", "split", "version_of"]
