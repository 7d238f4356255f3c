"""Translates the errors of SQLite and of its driver into bough's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from bough.db import StrPath
from bough.errors import BoughError, Busy, Corrupt, Full, Invalid, Refused, StorageError

DRIVER = (apsw.Error, UnicodeError)
"""The exceptions of the driver."""
QUERY_SYNTAX = ("fts5: ", "unterminated string", "no such column: ", "unknown special query", "expected integer")
"""Beginnings of the messages about an invalid search query; bough's own statements cause none of them."""


@contextmanager
def translate_errors(path: StrPath) -> Iterator[None]:
    """Raises the driver's errors as bough's. The hot paths call `translate` themselves, which is faster."""
    try:
        yield
    except DRIVER as error:
        raise translate(path, error) from None


def translate(path: StrPath, error: apsw.Error | UnicodeError) -> BoughError:
    """The error of bough for an error of the driver, with what was kept and what to do."""
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
        case apsw.SQLError() if str(error).startswith(QUERY_SYNTAX):
            return Invalid(f"The query cannot be understood: {str(error).removeprefix('fts5: ')}.")
    return StorageError(f"{name}: {error}")
