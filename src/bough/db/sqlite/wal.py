"""SQLite's write-ahead log, as the file it is: what was committed is made durable here, after the lock is given back.

With `synchronous=FULL` SQLite waits for the disk while it holds the lock, and every other writer waits along. So it
is told NORMAL, which keeps the file sound and syncs around checkpoints only, and each write is acknowledged when the
log has been synced by its own writer. Meanwhile the next one writes, and one trip of the disk serves both. Nothing can
overtake: a log is read up to the first frame that is not whole, so whoever syncs makes durable all that stands before
(docs/decisions/0016).

A sync that failed is different. The system takes what it could not write for written, so the next sync would succeed
and leave a hole, at which the log ends after a loss of power. Nothing is acknowledged until the log has been written
again as a whole.
"""

from __future__ import annotations

import errno
import os

from bough.errors import Full, StorageError

PIECE = 1_048_576
_sync = getattr(os, "fdatasync", os.fsync)
_close = os.close


class Log:
    """The log of one connection, or none. It is open for as long as someone holds it: who waits for the disk does."""

    _file = -1
    doubtful = False
    """Whether a sync has failed, and nothing has made up for it yet."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        if path is not None:
            self._file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))

    def sync(self) -> bool:
        """Whether everything that was committed is safe against the loss of power now."""
        try:
            self._flush()
        except OSError:
            self.doubtful = True
        return not self.doubtful

    def make_good(self) -> None:
        """Makes up for a sync that failed: everything is written once more, and synced. Nobody may write meanwhile.

        Raises `StorageError`, or `Full`, if the disk still fails.
        """
        if not self.doubtful:
            return
        try:
            self._rewrite()
            self._flush()
        except OSError as error:
            kind = Full if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
            raise kind(
                f"The disk failed to sync {self.path!r}: {error.strerror}. What was written since it began to fail can "
                "be read now, and may be gone after a loss of power; everything before is kept. Look after the disk."
            ) from None
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
