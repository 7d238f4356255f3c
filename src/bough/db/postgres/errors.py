"""What an error of psycopg means: whether it passes, whether the server may have kept something, what to say of it."""

from __future__ import annotations

import psycopg

from bough.errors import BoughError, Busy, Corrupt, Full, Invalid, NotFound, Refused, StorageError

GAVE_UP = ("40001", "40P01")
"""The server chose this transaction to make room for another: it has undone all of it."""
AWAY = ("08", "57P", "25006")
"""The server is going, gone, coming, or only a copy of the one that takes writes."""


def is_lost(error: BaseException) -> bool:
    """Whether the server, or the way to it, went away. It may have done the last thing that it was told."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(AWAY)


def is_passing(error: BaseException) -> bool:
    """Whether the same may well succeed in a moment."""
    return getattr(error, "sqlstate", None) in GAVE_UP or is_lost(error)


def translation(where: str, error: BaseException) -> BoughError | None:
    """What an error of the driver means, what was kept and what to do; None for any other error."""
    if isinstance(error, UnicodeEncodeError):
        return Invalid(f"That text cannot be stored here: {error}; nothing was written.")
    if not isinstance(error, psycopg.Error):
        return None
    code, said = error.sqlstate or "", (str(error).strip().splitlines() or ["it did not say why"])[0]
    match code:
        case "53100":
            return Full(f"The disk of {where} is full: nothing of this write was kept, everything before it is.")
        case "55P03" | "53300" | "57014" | "40001" | "40P01":
            return Busy(f"Others kept {where} busy ({said}); nothing was written. Try again.")
        case "42501":
            return Refused(f"{where} does not let this role do that: {said}. Nothing was changed.")
        case "25006":
            return Refused(f"{where} takes no writes: it is a copy, or open for reading only. Nothing was changed.")
        case "42704":
            return NotFound(f"{where} does not know what was named: {said}. Nothing was changed.")
        case "54000":
            return Invalid(f"That content is larger than PostgreSQL holds in one piece: {said}; nothing was written.")
        case "XX001" | "XX002" | "58P01":
            return Corrupt(f"{where} is damaged: {said}. Keep a copy of it, then run verify() or restore a backup.")
    if isinstance(error, psycopg.DataError):
        return Invalid(f"PostgreSQL does not take that: {said}; nothing was written.")
    if is_lost(error):
        return StorageError(f"{where} cannot be reached: {said}. What was acknowledged before is kept.")
    return StorageError(f"{where}: {said}")
