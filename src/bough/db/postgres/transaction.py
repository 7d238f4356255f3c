"""Transactions and snapshots: statements on one connection, in one namespace.

Everything is sent through a pipeline: statements that return nothing are not waited for, and BEGIN and COMMIT share the
round trip of the first and the last statement.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from typing import Any

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from bough.db import Row, Value, read_text, sections
from bough.db.postgres.pool import Connection
from bough.db.postgres.server import PostgresServer

STATEMENTS = sections(read_text("postgres", "statements.sql"), "name")
LISTS = {
    name: {int(number) - 1 for number in re.findall(r"CAST\(\$(\d+) AS \w+\[\]\)", statement)}
    for name, statement in STATEMENTS.items()
}
"""Which parameters, counted from 0 for the namespace, are arrays."""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"


class Transaction:
    """A transaction on a connection, in a namespace."""

    def __init__(self, connection: Connection, namespace: str, server: PostgresServer) -> None:
        self._connection = connection
        self._namespace = namespace
        self._server = server
        self.is_committing = False
        """Whether COMMIT was sent: from here on the server may have kept it, whether or not it acknowledges."""

    @contextmanager
    def begin(self, command: str) -> Iterator[None]:
        """Begins the transaction; leaving the block commits it, an exception rolls it back."""
        try:
            with self._connection.pipeline():
                self._connection.execute(command)
                self._apply_settings()
                yield
                self.is_committing = True
                self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def fetch(self, name: str, *params: Value) -> list[Row]:
        """The rows of a statement; this is a round trip."""
        return self.send(name, *params).fetchall()

    def run_alone(self, name: str, *params: Value) -> list[Row]:
        """The rows of a statement that is a transaction of its own."""
        with self.begin("BEGIN") if self._server.is_distributed else self._implied():
            cursor = self.send(name, *params)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _implied(self) -> Iterator[None]:
        """The implicit transaction of one round trip of the pipeline."""
        with self._connection.pipeline():
            self._apply_settings()
            yield

    def _apply_settings(self) -> None:
        """Sets the namespace, the lock timeout and durability for this transaction only."""
        self.send("settings", f"{max(1, int(self._server.patience * 1000))}ms")
        if self._server.is_distributed:  # what is set by a function stays on the coordinator
            self._connection.execute("SET LOCAL citus.propagate_set_commands TO 'local'")
            self._connection.execute(sql.SQL("SET LOCAL bough.namespace TO {}").format(sql.Literal(self._namespace)))

    def send(self, name: str, *params: Value) -> psycopg.Cursor[Row]:
        """Sends a statement; its rows can be fetched from the cursor."""
        cursor = self._connection.cursor(binary=True)
        return cursor.execute(STATEMENTS[name], self._bind(name, params))

    def send_many(self, name: str, params: Iterable[Sequence[Value]]) -> int:
        """Sends a statement once for each set of parameters; returns their number."""
        bound = [self._bind(name, one) for one in params]
        self._connection.cursor().executemany(STATEMENTS[name], bound)
        return len(bound)

    def fetch_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        """The rows of a statement, run once for each set of parameters; this is one round trip."""
        cursor = self._connection.cursor(binary=True)
        cursor.executemany(STATEMENTS[name], [self._bind(name, one) for one in params], returning=True)
        found = cursor.fetchall()
        while cursor.nextset():
            found += cursor.fetchall()
        return found

    def _bind(self, name: str, params: Sequence[Value]) -> list[Any]:
        """The namespace and the parameters. Lists become arrays, without values that no column can hold."""
        bound: list[Any] = [self._namespace, *params]
        # An id that no column can hold is not found, as on SQLite; the driver would raise an error.
        for place in LISTS[name]:
            bound[place] = [value for value in json.loads(bound[place]) if _is_holdable(value)]
        return bound

    def _roll_back(self) -> None:
        with suppress(psycopg.Error):  # the pool closes a connection that cannot be rolled back
            if self._connection.info.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self._connection.execute("ROLLBACK")


class Snapshot:
    """A read transaction. It begins with its first statement, on another connection if the first one was lost."""

    def __init__(self, server: PostgresServer, namespace: str) -> None:
        self._server = server
        self._namespace = namespace
        self._transaction: Transaction | None = None
        self._open = ExitStack()

    def fetch(self, name: str, *params: Value) -> list[Row]:
        if self._transaction is not None:
            return self._transaction.fetch(name, *params)
        return self._server.retry(lambda: self._begin(name, params))

    def _begin(self, name: str, params: Sequence[Value]) -> list[Row]:
        with ExitStack() as stack:
            connection = stack.enter_context(self._server.pool.connection())
            transaction = Transaction(connection, self._namespace, self._server)
            stack.enter_context(transaction.begin(READ))
            found = transaction.fetch(name, *params)
            self._transaction, self._open = transaction, stack.pop_all()
        return found

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        with (
            nullcontext() if error[1] else suppress(psycopg.Error)
        ):  # everything was read before the connection was lost
            self._open.__exit__(*error)


def _is_holdable(value: object) -> bool:
    try:
        return not isinstance(value, str) or b"\0" not in value.encode()
    except UnicodeEncodeError:
        return False
