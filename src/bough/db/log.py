"""SQLite's write-ahead log, as the file it is: what was committed is made durable here, after the lock is given back.

With `synchronous=FULL` SQLite waits for the disk while it holds the lock, and every other writer waits along. So it
is told NORMAL, which keeps the file sound and syncs around checkpoints only, and each write is acknowledged when the
log has been synced by its own writer. Meanwhile the next one writes, and one trip of the disk serves both. Nothing can
overtake: a log is read up to the first frame that is not whole, so whoever syncs makes durable all that stands before
(docs/decisions/0016).
"""

from __future__ import annotations

import errno
import os

from bough.errors import Full, StorageError

_sync = getattr(os, "fdatasync", os.fsync)
_close = os.close


class Log:
    """The log of one connection, or none. It is open for as long as someone holds it: who waits for the disk does."""

    _file = -1

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        if path is not None:
            self._file = os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))

    def sync(self) -> None:
        """Returns when everything that was committed is safe against the loss of power."""
        try:
            self._flush()
        except OSError as error:
            kind = Full if error.errno in (errno.ENOSPC, errno.EDQUOT) else StorageError
            raise kind(
                f"The disk failed to sync {self.path!r}: {error.strerror}. This write can be read now, and may be "
                "gone after a loss of power; everything before it is kept. Look after the disk."
            ) from None

    def _flush(self) -> None:
        if self._file >= 0:
            _sync(self._file)

    def __del__(self) -> None:
        if self._file >= 0:
            _close(self._file)
