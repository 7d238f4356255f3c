"""Leases: which turn may write to a session, who holds it, and whether the holder is still alive.

An owner is written as `place/process/started/token`. The place is a machine since its last boot, and a container in it:
a process of the same place can be looked up, one of another place cannot. In a store that several machines share, the
place is marked: there, two places with the same host name are two machines, and not one that was booted again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from bough.codec import column, json_list
from bough.db import Database
from bough.errors import Busy, Conflict, NotFound
from bough.model.ids import mint
from bough.storage import changes, partial
from bough.storage.messages import InsertPoint, insert_point_of
from bough.storage.rows import RunningTurn

LEASE = 900.0
"""Seconds that a turn may be silent before another writer may take the session over."""
SHARED = "+"

_active: set[str] = set()
"""The owners of this process that may still write. An owner is removed even if its turn could not be ended."""


class SessionState(NamedTuple):
    """A row of `session_state`: what a writer needs of a session."""

    n: int
    key: str
    head: int | None
    revision: int
    lease_turn: int | None
    lease_owner: str | None
    lease_until: int | None
    newest: bool | None = False
    """Whether it is the session that was used last."""
    last_here: int | None = None
    """The number of the session that the given directory last talked to."""
    highest: int = 0
    """The highest number of a message,"""
    taken: int = 0
    """how many of the ids that its next messages want are in use,"""
    digest: bytes | None = None
    created_at: int | None = None
    weight: int | None = None
    summary: int | None = None
    """and what its head passes on to them."""

    @property
    def insert_point(self) -> InsertPoint:
        """Where its next message goes. Raises `NotFound` when the message before it was deleted."""
        return insert_point_of(self.head, self[GROUND:])


GROUND = SessionState._fields.index("highest")


def find_session_state(
    db: Database, key: str, ids: Sequence[str] = (), directory: str | None = None
) -> SessionState | None:
    """The state of a session; with `ids`, also whether the ids of its next messages are free."""
    row = db.row("session_state", key, json_list(ids), column(directory))
    return None if row is None else SessionState(*row)


def session_state(db: Database, key: str, ids: Sequence[str] = (), directory: str | None = None) -> SessionState:
    """Like `find_session_state`. Raises `NotFound`."""
    found = find_session_state(db, key, ids, directory)
    if found is None:
        raise NotFound(f"There is no session {key!r}; it was deleted.")
    return found


def unleased(db: Database, key: str, now: int, ids: Sequence[str] = (), directory: str | None = None) -> SessionState:
    """The state of a session that no turn holds. A dead writer's turn is ended first. Raises `Busy`, `NotFound`."""
    session = session_state(db, key, ids, directory)
    if session.lease_owner is None:
        return session
    if is_leased(session, now):
        raise Busy(f"Session {key!r} is in the middle of another turn; wait for it, or fork.")
    for turn in running(db):
        if turn.session == session.n and turn.is_held:
            interrupt_abandoned(db, turn, now)
    db.run("drop_lease", session.n)  # also that of answers which have all ended
    return session_state(db, key, ids, directory)


def is_leased(session: SessionState, now: int) -> bool:
    """Whether a turn holds the session."""
    owner = session.lease_owner
    return owner is not None and (session.lease_until or 0) > now and not is_dead(owner)


def take(db: Database, session: int, turn: int, owner: str, now: int, seconds: float) -> None:
    """Gives the lease of a session to a turn."""
    db.run("take_lease", turn, owner, now + int(seconds * 1_000_000), now, session)


def renew(db: Database, session: int, turn_id: str, owner: str, now: int, seconds: float) -> None:
    """Renews the lease of a turn. Raises `Conflict` when it was taken over."""
    if db.row("renew_lease", now + int(seconds * 1_000_000), now, session, owner) is None:
        raise Conflict(
            f"Turn {turn_id!r} was silent for too long and its session was given to another writer. "
            "What it added is kept as a side branch; fork from it to go on."
        )


def patience(seconds: float) -> Iterator[float]:
    """The pauses between attempts, growing and random, until the time is up. The time begins with this call."""
    return _pauses(time.monotonic() + seconds)


def _pauses(deadline: float) -> Iterator[float]:
    from random import uniform

    pause = 0.002
    while (left := deadline - time.monotonic()) > 0:
        yield min(pause * uniform(0.5, 1.5), left)
        pause = min(pause * 1.5, 0.1)


# Abandoned turns ----------------------------------------------------------------------------------------------------


def running(db: Database) -> list[RunningTurn]:
    """The turns that are marked as running, whether their writers are alive or not."""
    return [RunningTurn(*row) for row in db.rows("running_turns")]


def is_abandoned(turn: RunningTurn, now: int) -> bool:
    """Whether the writer of a running turn is gone, or has lost its lease."""
    return not turn.is_held or (turn.lease_until or 0) <= now or is_dead(turn.lease_owner or "")


def interrupt_abandoned(db: Database, turn: RunningTurn, now: int) -> None:
    """Ends a turn whose writer went away."""
    settled = partial.settle(db, turn.n, now)
    n = settled.turn if settled else turn.n
    db.run("end_turn", "interrupted", "The writer went away.", now, n)
    changes.add(db, "ended", now, turn.session, n)
    if turn.is_held:
        db.run("drop_lease", turn.session)


def recover(db: Database, now: int) -> int:
    """Marks the turns of dead writers as interrupted; how many there were."""
    abandoned = [turn for turn in running(db) if is_abandoned(turn, now)]
    for turn in abandoned:
        interrupt_abandoned(db, turn, now)
    return len(abandoned)


# Owners -------------------------------------------------------------------------------------------------------------


def new_owner(shared: bool = False) -> str:
    """A new owner in this process. `shared` says that other machines use the store too."""
    return f"{SHARED if shared else ''}{_process()}/{mint(10)}"


def register(owner: str) -> None:
    """Marks an owner of this process as active, before it takes a lease."""
    _active.add(owner)


def unregister(owner: str) -> None:
    """Marks an owner of this process as finished: a lease that it still has counts as abandoned."""
    _active.discard(owner)


def is_dead(owner: str) -> bool:
    """Whether the owner has certainly ended. An owner on another machine is never certain to."""
    try:
        place, process, started, _ = owner.rsplit("/", 3)
    except ValueError:
        return False
    if place.removeprefix(SHARED) != _place():
        return place.split("@")[0] == _place().split("@")[0] and _boot() not in place
    if int(process) == os.getpid():
        return owner not in _active
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # it exists, and belongs to another user
    state, began = _stat(int(process))
    return started != began or state in ("Z", "X")


@lru_cache(maxsize=1)
def _process() -> str:
    """The owners of this process have this in common."""
    return f"{_place()}/{os.getpid()}/{_stat(os.getpid())[1]}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_process.cache_clear)


@lru_cache(maxsize=1)
def _boot() -> str:
    with suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    return "unknown"


@lru_cache(maxsize=1)
def _place() -> str:
    from socket import gethostname

    container = ""
    with suppress(OSError):
        container = os.readlink("/proc/self/ns/pid")
    return f"{gethostname()}@{_boot()}@{container}"


def _stat(process: int) -> tuple[str, str]:
    """The state of a process, and its start time, which distinguishes it from a later process with the same id."""
    with suppress(OSError, IndexError):
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
        return fields[0], fields[19]
    return "?", "?"
