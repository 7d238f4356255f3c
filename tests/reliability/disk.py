"""A disk that remembers what it was told, forgets what was not synced, and fails when asked to.

A shim over SQLite's own file layer. Real files are written, so that the store works as ever; beside that every write,
truncate, sync and delete is noted. From the notes `image` makes what a disk may hold after the power went: everything
that was synced, and any of the 512-byte sectors of the rest.
"""

from __future__ import annotations

import errno
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Literal

import apsw

from bough.db.sqlite.driver import SQLite
from bough.db.sqlite.wal import Log

SECTOR = 512
_numbers = count()


@dataclass(frozen=True, slots=True)
class Op:
    file: str
    verb: Literal["open", "write", "truncate", "sync", "delete"]
    offset: int = 0
    data: bytes = b""


@dataclass
class Disk:
    """What happened to the files, and what shall go wrong."""

    ops: list[Op] = field(default_factory=list)
    error: type[apsw.Error] | None = None
    countdown: int = 0
    """Writes and syncs until the error happens."""
    lasting: bool = False
    """Whether everything after it fails too, until `heal`."""
    failed: int = 0
    given_up: set[int] = field(default_factory=set)
    """Writes that a failed sync should have carried: the system takes them for written, and tries no more."""
    untold: set[str] = field(default_factory=set)
    """Files whose sync has failed for SQLite, which others who have them open are still to be told."""

    def fail(self, error: type[apsw.Error], at: int, lasting: bool = False) -> None:
        self.error, self.countdown, self.lasting, self.failed = error, at, lasting, 0

    def heal(self) -> None:
        self.error = None

    def strain(self) -> None:
        """Called before each write and sync; raises when its hour has come."""
        if self.error is None:
            return
        self.countdown -= 1
        if self.countdown == 0 or (self.lasting and self.countdown < 0):
            self.failed += 1
            raise self.error("the disk was told to fail")

    def sync(self, file: str) -> None:
        """Everything that was written to a file is durable, or never will be."""
        try:
            self.strain()
        except apsw.Error:
            last = max((at for at, op in enumerate(self.ops) if (op.file, op.verb) == (file, "sync")), default=-1)
            self.given_up |= {at for at, op in enumerate(self.ops) if at > last and op.file == file}
            raise
        if file:
            self.ops.append(Op(file, "sync"))

    def image(self, cut: int, rng: random.Random) -> dict[str, bytes]:
        """The files after a power cut just before operation `cut`."""
        synced = {op.file: at for at, op in enumerate(self.ops[:cut]) if op.verb == "sync"}
        any_sync = max(synced.values(), default=-1)
        files: dict[str, bytearray] = {}
        for at, op in enumerate(self.ops[:cut]):
            durable = at <= synced.get(op.file, -1) and at not in self.given_up
            if op.verb == "delete":
                # SQLite syncs the directory with a deletion that matters; a later sync carries the others along.
                if op.offset or at < any_sync or rng.random() < 0.5:
                    files.pop(op.file, None)
                continue
            content = files.setdefault(op.file, bytearray())
            if op.verb == "write":
                _write(content, op, durable, rng)
            elif op.verb == "truncate" and (durable or rng.random() < 0.5):
                del content[op.offset :]
        return {name: bytes(content) for name, content in files.items()}


def _write(content: bytearray, op: Op, durable: bool, rng: random.Random) -> None:
    kept = 1.0 if durable else rng.choice((0.0, 0.5, 1.0))
    for start in range(0, len(op.data), SECTOR):
        if durable or rng.random() < kept:
            piece = op.data[start : start + SECTOR]
            at = op.offset + start
            if len(content) < at:
                content.extend(bytes(at - len(content)))
            content[at : at + len(piece)] = piece


class ShimFile(apsw.VFSFile):
    def __init__(self, disk: Disk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.disk = disk
        self.name = base(name.filename() if isinstance(name, apsw.URIFilename) else name or "")
        super().__init__("", name, flags)
        if self.name:
            disk.ops.append(Op(self.name, "open"))

    def xWrite(self, data: Any, offset: int) -> None:
        self.disk.strain()
        if self.name:
            self.disk.ops.append(Op(self.name, "write", offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:
        if self.name:
            self.disk.ops.append(Op(self.name, "truncate", newsize))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:
        try:
            self.disk.sync(self.name)  # the real disk need not be waited for
        except apsw.Error:
            self.disk.untold.add(self.name)
            raise


class Shim(apsw.VFS):
    def __init__(self, disk: Disk) -> None:
        self.name = f"disk{next(_numbers)}"
        self.disk = disk
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> ShimFile:
        return ShimFile(self.disk, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.disk.ops.append(Op(base(filename), "delete", int(syncdir)))
        super().xDelete(filename, syncdir)


def base(name: str) -> str:
    return Path(name).name


class ShimLog(Log):
    """bough's own syncs, on the same disk."""

    def __init__(self, disk: Disk, path: str) -> None:
        super().__init__(path)
        self.disk = disk
        self.name = base(path)

    def _flush(self) -> None:
        if self.name in self.disk.untold:
            self.disk.untold.remove(self.name)
            raise OSError(errno.EIO, "a sync has failed before")
        self._strained(lambda: self.disk.sync(self.name))

    def _rewrite(self) -> None:
        self._strained(self.disk.strain)
        self.disk.ops.append(Op(self.name, "write", 0, Path(self.path or "").read_bytes()))

    def _strained(self, work: Callable[[], None]) -> None:
        try:
            work()
        except apsw.Error as error:
            raise OSError(errno.ENOSPC if isinstance(error, apsw.FullError) else errno.EIO, str(error)) from None


Carelessness = Literal["no syncs of the log", "no syncs of SQLite"]


class Careless(apsw.Connection):
    """A connection that says it syncs, and does not."""

    def execute(self, statements: str, *args: object, **kwargs: object) -> apsw.Cursor:
        weaker = statements.replace("synchronous=FULL", "synchronous=OFF").replace("=NORMAL", "=OFF")
        return super().execute(weaker, *args, **kwargs)  # type: ignore[arg-type]


class OnShim(SQLite):
    """bough's SQLite on the shim. Small checkpoints, so that a short run has many."""

    def __init__(
        self, path: Path, disk: Disk, *, careless: Carelessness | None = None, checkpoint: int = 60, patience: float = 5
    ) -> None:
        self.shim = Shim(disk)
        self.careless = careless
        self.checkpoint = checkpoint
        super().__init__(path, patience=patience)

    def open_log(self) -> Log:
        return Log() if self.careless == "no syncs of the log" else ShimLog(self.shim.disk, f"{self.path}-wal")

    def connect(self) -> apsw.Connection:
        kind = Careless if self.careless == "no syncs of SQLite" else apsw.Connection
        connection = kind(str(self.path), vfs=self.shim.name, statementcachesize=200)
        # Without shared memory, which a shim does not have, WAL needs the file for itself.
        connection.execute("PRAGMA locking_mode=exclusive").fetchall()
        connection.execute(f"PRAGMA wal_autocheckpoint={self.checkpoint}").fetchall()
        return connection
