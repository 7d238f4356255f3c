"""A database in memory, which is gone when it is closed."""

from __future__ import annotations

import apsw

from bough.db import PATIENCE
from bough.db.sqlite.driver import SQLite
from bough.db.sqlite.errors import translate_errors
from bough.db.sqlite.opening import set_pragmas
from bough.db.sqlite.schema import migrate
from bough.db.sqlite.write_queue import WriteQueue

NAME = ":memory:"


class Memory(SQLite):
    """SQLite without a file: nothing is written to a disk, and no other process can open it."""

    def __init__(self, patience: float = PATIENCE) -> None:
        super().__init__(NAME, patience=patience)

    def _open(self) -> apsw.Connection:
        self._queue, self._identity = WriteQueue("", self.patience), None
        with translate_errors(self.path):
            self._connection = apsw.Connection(NAME, statementcachesize=200)
            migrate(self._connection, self.path)
            set_pragmas(self._connection)
        return self._connection

    def _reader(self) -> apsw.Connection:
        copy = apsw.Connection(NAME)
        copy.deserialize("main", self._use().serialize("main"))
        return copy

    def _is_replaced(self) -> bool:
        return False

    def before_process_fork(self) -> None:
        self._mutex_held = self._mutex.acquire(timeout=self.patience)  # disconnecting would lose everything
