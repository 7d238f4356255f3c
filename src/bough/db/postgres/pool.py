"""A pool of connections to a server."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus

from bough.db import Row
from bough.db.postgres.naming import SCHEMA, in_schema
from bough.errors import Busy, Refused


class Connection(psycopg.Connection[Row]):
    """A connection that knows the name of the schema."""

    schema = SCHEMA

    def in_schema(self, text: str) -> str:
        """SQL that is written for a schema called `bough`."""
        return in_schema(text, self.schema)

    def run(self, text: str) -> psycopg.Cursor[Row]:
        """Executes SQL that is written for a schema called `bough`."""
        return self.execute(self.in_schema(text).encode())

    def compose(self, template: str, *names: sql.Composable) -> psycopg.Cursor[Row]:
        """Executes a template of such SQL with names or values in it."""
        return self.execute(sql.SQL(self.in_schema(template)).format(*names))


class Pool:
    """At most `size` connections, opened when they are needed. Thread-safe; not for use after a process fork."""

    def __init__(self, open_: Callable[[], Connection], size: int, patience: float) -> None:
        self.size = size
        self._open = open_
        self._patience = patience
        self._free = threading.BoundedSemaphore(size)
        self._idle: list[Connection] = []
        self._closed = False
        self._process = os.getpid()
        weakref.finalize(self, close_idle, self._idle, self._process)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lends a connection to one thread. Raises `Busy` when all are in use for too long."""
        if self._closed:
            raise Refused("This store is closed; connect again.")
        if not self._free.acquire(timeout=self._patience):
            raise Busy(f"All {self.size} connections were in use for {self._patience:g} seconds; nothing was done.")
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._put_back(connection)
        finally:
            self._free.release()

    def close_idle(self) -> None:
        """Closes the idle connections: their server is gone, or is no longer the primary."""
        close_idle(self._idle, self._process)

    def close(self) -> None:
        """Closes the idle connections now, and the others when they are returned."""
        self._closed = True
        self.close_idle()

    def _take(self) -> Connection:
        try:
            return self._idle.pop()  # atomic, like append: the list needs no lock
        except IndexError:
            return self._open()

    def _put_back(self, connection: Connection) -> None:
        # A connection that is still in a transaction was abandoned in the middle of it, and cannot be reused.
        if self._closed or connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        else:
            self._idle.append(connection)


def close_idle(idle: list[Connection], process: int) -> None:
    """Closes connections, unless they belong to a parent process."""
    with suppress(IndexError):  # threads may empty the list at the same time
        while os.getpid() == process:
            idle.pop().close()
