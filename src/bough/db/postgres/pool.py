"""Connections to a server, kept for whoever needs one next."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import psycopg
from psycopg.pq import TransactionStatus

from bough.errors import Busy, Refused

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


class Pool:
    """At most so many connections, opened when they are needed. Thread-safe; it must not be used after a fork."""

    def __init__(self, open_: Callable[[], Connection], size: int, patience: float) -> None:
        self.size = size
        self._open = open_
        self._patience = patience
        self._free = threading.BoundedSemaphore(size)
        self._idle: list[Connection] = []
        self._closed = False
        self._process = os.getpid()
        weakref.finalize(self, forget, self._idle, self._process)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One connection, for one thread, for as long as the block lasts."""
        if self._closed:
            raise Refused("This store is closed; connect again.")
        if not self._free.acquire(timeout=self._patience):
            raise Busy(f"All {self.size} connections were in use for {self._patience:g} seconds; nothing was done.")
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def forget(self) -> None:
        """Closes what is idle: the server that it led to is gone, or has changed its part."""
        forget(self._idle, self._process)

    def close(self) -> None:
        """Closes what is idle now, and the rest as it comes back."""
        self._closed = True
        self.forget()

    def _take(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._open()

    def _give_back(self, connection: Connection) -> None:
        # What is not idle was left in the middle of something, and is of no use to anybody.
        if self._closed or connection.closed or connection.info.transaction_status != TransactionStatus.IDLE:
            connection.close()
        else:
            self._idle.append(connection)


def forget(idle: list[Connection], process: int) -> None:
    """Closes connections; those of a parent process are left to it."""
    with suppress(IndexError):
        while os.getpid() == process:
            idle.pop().close()
