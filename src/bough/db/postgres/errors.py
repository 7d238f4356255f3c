"""Classifies the errors of psycopg, and translates them into bough's."""

from __future__ import annotations

import psycopg

from bough.errors import BoughError, Busy, Corrupt, Full, Invalid, NotFound, Refused, StorageError

ABORTED = ("40001", "40P01")
"""Serialization failure and deadlock: the server has rolled the transaction back."""
UNAVAILABLE = ("08", "57P", "25006")
"""SQLSTATEs of a server that shuts down, is gone, starts, or is a read-only replica."""


def is_lost(error: BaseException) -> bool:
    """Whether the connection was lost. The server may have executed the last statement."""
    if not isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError, psycopg.InternalError)):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(UNAVAILABLE)


def is_in_doubt(error: BaseException) -> bool:
    """Whether a commit that failed like this may have been kept.

    A distributed engine reports an internal error when a worker's answer to the commit was lost.
    """
    return is_lost(error) or (getattr(error, "sqlstate", None) or "").startswith("XX")


def is_transient(error: BaseException) -> bool:
    """Whether a retry may succeed."""
    return getattr(error, "sqlstate", None) in ABORTED or is_lost(error)


def translate(where: str, error: BaseException) -> BoughError | None:
    """The error of bough for an error of the driver, with what was kept and what to do; None for any other error."""
    if isinstance(error, UnicodeEncodeError):
        return Invalid(f"That text cannot be stored here: {error}; nothing was written.")
    if not isinstance(error, psycopg.Error):
        return None
    code, reason = error.sqlstate or "", (str(error).strip().splitlines() or ["no reason given"])[0]
    match code:
        case "53100":
            return Full(f"The disk of {where} is full: nothing of this write was kept, everything before it is.")
        case "55P03" | "53300" | "40001" | "40P01":
            return Busy(f"Others kept {where} busy ({reason}); nothing was written. Try again.")
        case "57014":
            return StorageError(
                f"{where} cancelled a statement: {reason}. Nothing was written. If nobody did that by hand, the "
                "statement_timeout of the server or of this role is too short."
            )
        case "25P03":
            return StorageError(f"{where} ended a transaction that was idle for too long; nothing was written.")
        case "42501":
            return Refused(f"{where} does not let this role do that: {reason}. Nothing was changed.")
        case "25006":
            return Refused(f"{where} takes no writes: it is a copy, or open for reading only. Nothing was changed.")
        case "42704":
            return NotFound(f"{where} does not know what was named: {reason}. Nothing was changed.")
        case "54000":
            return Invalid(f"That content is larger than PostgreSQL holds in one piece: {reason}; nothing was written.")
        case "XX001" | "XX002" | "58P01":
            return Corrupt(f"{where} is damaged: {reason}. Keep a copy of it, then run verify() or restore a backup.")
    if isinstance(error, psycopg.DataError):
        return Invalid(f"PostgreSQL does not take that: {reason}; nothing was written.")
    if is_lost(error):
        return StorageError(f"{where} cannot be reached: {reason}. What was acknowledged before is kept.")
    return StorageError(f"{where}: {reason}")
