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

from bough.db import Row, Value
from bough.db.postgres import rewrite
from bough.db.postgres.naming import SCHEMA, statements
from bough.db.postgres.pool import Connection
from bough.db.postgres.server import PostgresServer

STATEMENTS = statements(SCHEMA)
LISTS = {
    name: {int(number) - 1 for number in re.findall(r"CAST\(\$(\d+) AS \w+\[\]\)", statement)}
    for name, statement in STATEMENTS.items()
}
"""Which parameters, counted from 0 for the namespace, are arrays."""
READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED"
PLANNED_ONCE = "force_generic_plan"
"""Of what a write executes: planning for its values what a writer needs of a session took a third of a turn."""


class Transaction:
    """A transaction on a connection, in a namespace."""

    def __init__(self, connection: Connection, namespace: str, server: PostgresServer) -> None:
        self._connection = connection
        self._namespace = namespace
        self._server = server
        self._statements = server.statements
        self._pipeline: psycopg.Pipeline | None = None
        self.is_committing = False
        """Whether COMMIT was sent: from here on the server may have kept it, whether or not it acknowledges."""

    @contextmanager
    def begin(self, command: str) -> Iterator[None]:
        """Begins the transaction; leaving the block commits it, an exception rolls it back."""
        try:
            with self._connection.pipeline() as self._pipeline:
                self._connection.execute(command)
                self._apply_settings(PLANNED_ONCE if command == WRITE else "auto")
                yield
                self.is_committing = True
                self._connection.execute("COMMIT")
        except BaseException:
            self._roll_back()
            raise

    def fetch(self, name: str, *params: Value) -> list[Row]:
        """The rows of a statement; this is a round trip."""
        cursor = self.send(name, *params)
        self._wait()
        return cursor.fetchall()

    def _wait(self) -> None:
        """Waits for the answers to everything that was sent.

        The synchronisation lets the server see that the transaction is idle, which is what an
        `idle_in_transaction_session_timeout` measures; within a pipeline it takes a silent client for a busy one.
        """
        if self._pipeline is not None:
            self._pipeline.sync()

    def run_alone(self, name: str, *params: Value) -> list[Row]:
        """The rows of a statement that is a transaction of its own."""
        with self.begin("BEGIN") if self._server.is_distributed else self._implied():
            cursor = self.send(name, *params)
        return cursor.fetchall() if cursor.description else []

    @contextmanager
    def _implied(self) -> Iterator[None]:
        """The implicit transaction of one round trip of the pipeline."""
        with self._connection.pipeline():
            self._apply_settings("auto")
            yield

    def _apply_settings(self, planning: str) -> None:
        """Sets the namespace, the lock timeout, the planning and durability for this transaction only."""
        wait = f"{max(1, int(self._server.patience * 1000))}ms"
        if not self._server.is_distributed:
            self.send("settings", wait, planning)
            return
        # What is set by a function stays on the node that is asked; what is SET reaches those that it asks.
        self._connection.execute("SET LOCAL citus.propagate_set_commands TO 'local'")
        for setting, value in (
            (sql.Identifier("bough", "namespace"), self._namespace),
            (sql.Identifier("lock_timeout"), wait),
            (sql.Identifier("synchronous_commit"), self._server.durability),
        ):
            self._connection.execute(sql.SQL("SET LOCAL {} TO {}").format(setting, sql.Literal(value)))

    def send(self, name: str, *params: Value) -> psycopg.Cursor[Row]:
        """Sends a statement; its rows can be fetched from the cursor."""
        statement, bound = self._statements[name], self._bind(name, params)
        if self._server.is_distributed and (steps := rewrite.divided(statement)):
            return self._send_divided(steps, bound)
        return self._execute(statement, bound)

    def _execute(self, statement: str, bound: Sequence[Any]) -> psycopg.Cursor[Row]:
        return self._connection.cursor(binary=True).execute(statement, bound)

    def _send_divided(self, steps: rewrite.Divided, bound: Sequence[Any]) -> psycopg.Cursor[Row]:
        """Reads what INSERT … SELECT would insert, and inserts it; the cursor of the last row."""
        cursor = self._execute(steps.select, [bound[index] for index in steps.select_params])
        self._wait()
        for row in cursor.fetchall():
            values = iter(row)
            cursor = self._execute(
                steps.insert, [next(values) if index is None else bound[index] for index in steps.values]
            )
        return cursor

    def send_many(self, name: str, params: Iterable[Sequence[Value]]) -> int:
        """Sends a statement for each set of parameters, several of them in one command where it can; their number."""
        statement, rows = self._statements[name], list(params)
        if rewrite.several(statement, 1) is None:
            self._connection.cursor().executemany(statement, [self._bind(name, row) for row in rows])
            return len(rows)
        for batch in rewrite.batches(rows):
            command = rewrite.several(statement, len(batch))
            assert command is not None
            self._execute(command, [self._namespace, *(value for row in batch for value in row)])
        return len(rows)

    def fetch_many(self, name: str, params: Iterable[Sequence[Value]]) -> list[Row]:
        """The rows of a statement, run once for each set of parameters; this is one round trip."""
        if self._server.is_distributed and rewrite.divided(self._statements[name]):
            return [row for one in params for row in self.fetch(name, *one)]
        cursor = self._connection.cursor(binary=True)
        bound = [self._bind(name, one) for one in params]
        cursor.executemany(self._statements[name], bound, returning=True)
        self._wait()
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
