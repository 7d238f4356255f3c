"""Syncs SQLite's write-ahead log, which makes commits durable after the write lock is released.

With `synchronous=FULL` SQLite waits for the disk while it holds the lock, and every other writer waits too. So it runs
with NORMAL, which keeps the file consistent and syncs around checkpoints only, and each write is acknowledged after its
writer has synced the log. Meanwhile the next one writes, and one sync serves both. Writes stay in order: recovery reads
a log up to the first frame that is incomplete, so a sync makes all frames before it durable (docs/decisions/0016).

After a sync that failed, the kernel marks the pages as clean that it could not write: the next sync would succeed and
leave a hole, at which the log ends after a power loss. Nothing is acknowledged until the whole log has been rewritten.
Whoever has the log open is told of the failure by the kernel. Whoever opens it later is not: so a log that has content
when it is opened counts as doubtful too.
"""

from __future__ import annotations

import errno
import os

from bough.errors import Full, StorageError

PIECE = 1_048_576
_sync = getattr(os, "fdatasync", os.fsync)
_close = os.close


class Log:
    """The log of one connection, or none. The file stays open while a writer that syncs it has a reference."""

    _file = -1
    doubtful = False
    """Whether a sync may have failed since the log was last rewritten."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        if path is not None:
            self._file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
            # In this order: of a failure after the opening we are told.
            self.doubtful = os.fstat(self._file).st_size > 0

    def sync(self) -> bool:
        """Syncs the log; whether all commits are safe against power loss."""
        try:
            self._flush()
        except OSError:
            self.doubtful = True
        return not self.doubtful

    def is_deleted(self) -> bool:
        """Whether the file has no name any more, so that nobody will ever read what is written to it."""
        return self._file >= 0 and os.fstat(self._file).st_nlink == 0

    def rewrite_if_doubtful(self) -> None:
        """Rewrites and syncs the whole log if a sync may have failed. The caller holds the write lock.

        Raises `StorageError`, or `Full`, if the disk still fails.
        """
        if not self.doubtful:
            return
        try:
            self._rewrite()
            self._flush()
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            raise in_doubt(self.path, f"{error.strerror}. Look after the disk", full) from None
        self.doubtful = False

    def _flush(self) -> None:
        if self._file >= 0:
            _sync(self._file)

    def _rewrite(self) -> None:
        offset = 0
        while piece := os.pread(self._file, PIECE, offset):
            offset += os.pwrite(self._file, piece, offset)

    def __del__(self) -> None:
        if self._file >= 0:
            _close(self._file)


def in_doubt(path: str | None, reason: str, full: bool = False) -> StorageError:
    """The error of a write that was committed and is not known to be durable."""
    return (Full if full else StorageError)(
        f"The disk failed to sync {path!r}: {reason}. What was written since it began to fail can be read now, and "
        "may be gone after a loss of power; everything before is kept. Repeat the call with the same idempotency key."
    )
