"""SQL that a person wrote, in a transaction that can only read."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

import psycopg
from psycopg import errors

from bough.db import Selected
from bough.db.postgres.pool import Connection
from bough.db.postgres.transaction import READ, Transaction
from bough.errors import BoughError, Invalid, Refused


def select(transaction: Transaction, connection: Connection, sql: str, functions: Collection[str]) -> Selected:
    """The result of one statement, in the namespace of the transaction. `functions` are those that only a file has."""
    try:
        with transaction.begin(READ):
            connection.execute(f'SET LOCAL search_path TO "{connection.schema}", public'.encode())
            cursor = connection.execute(cast("psycopg.sql.SQL", sql))  # the pipeline takes one statement only
            rows = cursor.fetchall()
            return Selected([column.name for column in cursor.description or ()], iter(rows))
    except psycopg.Error as error:
        if (explained := _explain(error, functions)) is None:
            raise
        raise explained from None


def _explain(error: psycopg.Error, functions: Collection[str]) -> BoughError | None:
    """The error of bough for a mistake in the statement; None for any other error."""
    reason = (str(error).strip().splitlines() or ["no reason given"])[0]
    match error:
        case errors.ReadOnlySqlTransaction() | errors.ActiveSqlTransaction():
            return Refused("That statement does more than read; nothing was changed.")
        case errors.UndefinedFunction() if any(f"{name}(" in reason for name in functions):
            return Invalid(f"A server does not have {', '.join(functions)}; `bough db copy` makes a file that has.")
        case psycopg.ProgrammingError() | psycopg.DataError() | psycopg.NotSupportedError():
            return Invalid(f"PostgreSQL cannot run that statement: {reason}.")
    return None
