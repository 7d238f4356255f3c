"""Creates and migrates the schema of a PostgreSQL database, once, however many processes start together."""

from __future__ import annotations

import re

from bough.db import StrPath, read_text
from bough.db.migrations import VERSION, steps
from bough.db.postgres.pool import Connection
from bough.errors import Refused, SchemaTooNew

LOCK = 0x626F7567  # "boug"
TABLES = re.findall(r"CREATE TABLE bough\.(\w+)", read_text("schema", "postgres.sql"))


def migrate(connection: Connection, where: str, directory: StrPath | None = None) -> None:
    """Creates the schema, or migrates it to the newest version, in one transaction under one advisory lock."""
    newest = max([VERSION, *(version for version, _ in steps("postgres", directory))])
    if version_of(connection, where, newest) == newest:
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock($1)", (LOCK,))
        version = version_of(connection, where, newest)  # another process may have been first
        if version == newest:
            return
        if version == 0 and directory is None:
            connection.execute(read_text("schema", "postgres.sql"))
        for number, sql in steps("postgres", directory) if version or directory else ():
            if number > version:
                connection.execute(sql)
        connection.execute(f"COMMENT ON SCHEMA bough IS 'bough, schema {newest}'")


def version_of(connection: Connection, where: str, newest: int) -> int:
    """The version of the schema; 0 for none. Raises `SchemaTooNew`, and `Refused` for what is not ours."""
    row = connection.execute(
        "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = 'bough'"
    ).fetchone()
    if row is None:
        return 0
    match = re.fullmatch(r"bough, schema (\d+)", row[0] or "")
    if match is None:
        raise Refused(f"{where} has a schema called bough that bough did not make; it was left alone.")
    version = int(match[1])
    if version > newest:
        raise SchemaTooNew(
            f"{where} was written by a newer bough (schema {version}, this one supports {newest}); "
            "upgrade bough to use it. It was left alone."
        )
    return version


def is_distributed(connection: Connection) -> bool:
    """Whether the server has the Citus extension."""
    row = connection.execute("SELECT to_regproc('create_distributed_table') IS NOT NULL").fetchone()
    return bool(row and row[0])
