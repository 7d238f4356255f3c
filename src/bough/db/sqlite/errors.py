"""What an error of SQLite, or of its driver, means to somebody who uses bough."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from bough.db import StrPath
from bough.errors import BoughError, Busy, Corrupt, Full, Invalid, Refused, StorageError

DRIVER = (apsw.Error, UnicodeError)
"""What the driver raises."""
NO_QUERY = ("fts5: ", "unterminated string", "no such column: ", "unknown special query", "expected integer")
"""How SQLite begins to speak of a query that somebody wrote; our own statements make none of these mistakes."""


@contextmanager
def translated(path: StrPath) -> Iterator[None]:
    """Turns the driver's errors into bough's. What every turn passes through does so itself: this takes its time."""
    try:
        yield
    except DRIVER as error:
        raise translation(path, error) from None


def translation(path: StrPath, error: apsw.Error | UnicodeError) -> BoughError:
    """What an error of the driver means, what was kept and what to do."""
    name = repr(str(path))
    match error:
        case apsw.BusyError():
            return Busy(f"{name} is locked by another program; nothing was written. Try again.")
        case apsw.FullError():
            return Full(f"The disk of {name} is full: nothing of this write was kept, everything before it is.")
        case apsw.NotADBError():
            return Corrupt(f"{name} is not a bough file (not a SQLite database at all); it was left alone.")
        case apsw.CorruptError():
            return Corrupt(f"{name} is damaged: {error}. Keep a copy of it, then run verify() or restore a backup.")
        case apsw.ReadOnlyError():
            return Refused(f"{name} cannot be written; nothing was changed.")
        case apsw.CantOpenError():
            return StorageError(f"{name} cannot be opened: {error}. Check that it exists and who may read it.")
        case apsw.TooBigError():
            return Invalid("That content is larger than SQLite holds in one piece (1 GB); nothing was written.")
        case UnicodeEncodeError():
            return Invalid(f"That text cannot be stored here: {error}; nothing was written.")
        case UnicodeDecodeError():
            return Corrupt(f"{name} holds text that is damaged: {error}. Run verify().")
        case apsw.IOError() if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
            return Full(f"The disk of {name} is full: not even the index of the WAL fits. Nothing was changed.")
        case apsw.IOError():
            return StorageError(f"The disk of {name} failed: {error}. What was acknowledged before is kept.")
        case apsw.SQLError() if str(error).startswith(NO_QUERY):
            return Invalid(f"The query cannot be understood: {str(error).removeprefix('fts5: ')}.")
    return StorageError(f"{name}: {error}")
