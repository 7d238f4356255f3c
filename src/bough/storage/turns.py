"""Turns and leases: how a run becomes part of a session, or does not.

A turn opens with its input already durable and takes the session's lease in the same transaction. Each step is durable
when it is added. The session's head moves only when the turn completes, and only if nobody moved it meanwhile. What
does not complete stays as a side branch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from bough.codec import column, json_list, json_text, turn_info
from bough.codec.digest import short_hash
from bough.db import Database, Row
from bough.db.rows import TurnRow
from bough.errors import Busy, Conflict, Invalid, NotFound, Refused
from bough.model import Json, Status, Usage
from bough.model.values import mutable, value
from bough.storage import lookup, partial
from bough.storage.leases import is_dead
from bough.storage.messages import Entry, InsertPoint, Saved, ids_for, insert, insert_point_of
from bough.storage.rows import RunningTurn

NO_REPLY = "No reply was added."
UNFINISHED = "The reply was still being written."
LEASE = 900.0
"""Seconds that a turn may be silent before another writer may take the session over."""


@mutable
class Provenance:
    """How the replies of a turn came about."""

    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    usage: Usage = Usage()
    context_tokens: int | None = None
    """The size of the dialog after the last reply, as the provider counted it."""
    instructions: str | None = None
    first_token_at: int | None = None
    metadata: Mapping[str, Json] = MappingProxyType({})
    caller: int | None = None
    caller_call: str | None = None

    @property
    def instructions_digest(self) -> bytes | None:
        if self.instructions is None:
            return None
        return short_hash(self.instructions.encode("utf-8", "surrogatepass"))

    @property
    def kept_metadata(self) -> str | None:
        return json_text(dict(self.metadata)) if self.metadata else None


def dialog_size(usage: Usage | None) -> int | None:
    """What one reply's counts say of the size of the dialog that it ends."""
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return None
    return usage.input_tokens + usage.output_tokens


@mutable
class Opened:
    """A turn that is being written."""

    n: int
    id: str
    session: int
    parent: int | None
    last: int
    owner: str
    provenance: Provenance
    repeated: bool = False
    """It was completed before, under the same idempotency key."""


@value
class State:
    """What a session's row says to a writer."""

    n: int
    key: str
    head: int | None
    revision: int
    lease_turn: int | None
    lease_owner: str | None
    lease_until: int | None
    newest: bool = False
    """Whether it is the session that was used last."""
    ground: Row = ()

    @property
    def insert_point(self) -> InsertPoint:
        """Where its next message goes. Raises `NotFound` when the message before it is gone."""
        return insert_point_of(self.head, self.ground)


def patience(seconds: float) -> Iterator[float]:
    """How long to sleep before each further try, until the time is up."""
    from random import uniform

    pause, deadline = 0.002, time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        yield min(pause * uniform(0.5, 1.5), left)
        pause = min(pause * 1.5, 0.1)


def state(db: Database, key: str, names: Sequence[str] = ()) -> State:
    found = find_state(db, key, names)
    if found is None:
        raise NotFound(f"There is no session {key!r}; it was deleted.")
    return found


def find_state(db: Database, key: str, names: Sequence[str] = ()) -> State | None:
    """What a writer must know who wants to give these names to the next messages of a session."""
    row = db.row("session_state", key, json_list(names))
    if row is None:
        return None
    n, key, head, revision, turn, owner, until, newest, *ground = row
    return State(n, key, head, revision, turn, owner, until, newest == 1, tuple(ground))


def free(db: Database, key: str, now: int, names: Sequence[str] = ()) -> State:
    """The session, if nobody is writing to it; raises `Busy` otherwise. The turn of a dead writer is put aside."""
    session = state(db, key, names)
    if session.lease_owner is None:
        return session
    if is_leased(session, now):
        raise Busy(f"Session {key!r} is in the middle of another turn; wait for it, or fork.")
    assert session.lease_turn is not None
    turn = session.lease_turn, session.n, session.lease_turn, session.lease_owner, session.lease_until, session.key
    interrupt_abandoned(db, RunningTurn(*turn), now)
    return state(db, key, names)


def move_head(db: Database, session: int, head: int | None, now: int, newest: bool = False) -> None:
    """Makes a session stand at a message, or nowhere, and makes it the one that was used last, unless it is already."""
    db.run("move_head", head, now, session)
    if not newest:  # one page of an index that a turn which goes on where the last one was need not write
        db.run("use_session", session)


def is_leased(session: State, now: int) -> bool:
    """Whether someone is writing to it."""
    owner = session.lease_owner
    return owner is not None and (session.lease_until or 0) > now and not is_dead(owner)


def running(db: Database) -> list[RunningTurn]:
    """The turns that are marked as running, whether their writers are alive or not."""
    return [RunningTurn(*row) for row in db.rows("running_turns")]


def interrupt_abandoned(db: Database, turn: RunningTurn, now: int) -> None:
    """Ends a turn whose writer went away."""
    partial.settle(db, turn.n, now)
    db.run("end_turn", "interrupted", "The writer went away.", now, turn.n)
    if turn.lease_turn == turn.n:
        db.run("drop_lease", turn.session)


def is_abandoned(turn: RunningTurn, now: int) -> bool:
    """Whether the writer of a running turn is gone, or has lost its lease."""
    return turn.lease_turn != turn.n or (turn.lease_until or 0) <= now or is_dead(turn.lease_owner or "")


def recover(db: Database, now: int) -> int:
    """Marks the turns whose writers died as interrupted; says how many there were."""
    abandoned = [turn for turn in running(db) if is_abandoned(turn, now)]
    for turn in abandoned:
        interrupt_abandoned(db, turn, now)
    return len(abandoned)


# One turn, step by step ---------------------------------------------------------------------------------------------


def open_turn(
    db: Database,
    key: str,
    entry: Entry,
    now: int,
    owner: str,
    lease: float,
    provenance: Provenance,
    idempotency_key: str | None = None,
) -> Opened:
    session = free(db, key, now, ids_for([entry]))
    if idempotency_key is not None and (done := completed(db, session.n, idempotency_key)):
        return _reload(db, done, session.n, owner, repeated=True)
    entry.parent = session.head
    saved = insert(db, [entry], now, turn=0, point=session.insert_point)
    n, (id,) = saved.first, saved.ids
    insert_turn(db, session, n, n, "running", provenance, idempotency_key, now, None)
    db.run("take_lease", n, owner, now + int(lease * 1_000_000), session.n)
    return Opened(n, id, session.n, session.head, n, owner, provenance)


def reopen(db: Database, key: str, turn: int, now: int, owner: str, lease: float) -> Opened:
    """Takes up a turn that did not complete, where it was left."""
    session = free(db, key, now)
    row = db.row("turn", turn)
    info = None if row is None else turn_info(row)
    if info is None or info.session != key:
        raise NotFound(f"Session {key!r} has no such turn.")
    if info.status == "complete":
        raise Refused(f"Turn {info.id!r} is complete; there is nothing to resume. Fork from it instead.")
    opened = _reload(db, turn, session.n, owner)
    if opened.parent != session.head:
        raise Conflict(
            f"Session {key!r} has moved on since turn {info.id!r}; fork at {info.last_id!r} to go on from there."
        )
    db.run("reopen_turn", turn)
    db.run("take_lease", turn, owner, now + int(lease * 1_000_000), session.n)
    return opened


def extend(db: Database, turn: Opened, entries: list[Entry], p: Provenance, now: int, lease: float) -> Saved:
    """Adds what the run has produced, if anything, and how it came about; the lease begins anew."""
    check_owner(db, turn)
    saved = Saved(turn.last + 1, [])
    if entries:
        entries[0].parent = turn.last
        db.run("drop_sketch", turn.n)
        saved = insert(db, entries, now, turn.n)
    u = p.usage
    db.run(
        "extend_turn", saved.last, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
        p.instructions_digest, p.kept_metadata, p.first_token_at, turn.n,
    )  # fmt: skip
    db.run("take_lease", turn.n, turn.owner, now + int(lease * 1_000_000), turn.session)
    return saved


def check_owner(db: Database, turn: Opened) -> None:
    if db.row("leased_session", turn.session, turn.owner) is None:
        raise Conflict(
            f"Turn {turn.id!r} was silent for too long and its session was given to another writer. "
            "What it added is kept as a side branch; fork from it to go on."
        )


def finish(db: Database, turn: Opened, status: Status, error: str | None, now: int) -> tuple[Status, str | None]:
    """Ends a turn; how it really ended, and why. The head moves for a complete one, unless someone else moved it."""
    row = db.row("leased_session", turn.session, turn.owner)
    if row is None:
        return "interrupted", "Someone took over, and put the turn aside."
    if partial.settle(db, turn.n, now) and status == "complete":
        status, error = "interrupted", UNFINISHED
    head, newest = row
    last = lookup.header(db, turn.last)
    if status == "complete" and (last is None or last.role == "user"):
        status, error = "interrupted", NO_REPLY
    if status == "complete" and head != turn.parent:
        status, error = "interrupted", "The session moved on in the meantime."
    db.run("end_turn", status, column(error), now, turn.n)
    if status == "complete":
        move_head(db, turn.session, turn.last, now, newest=newest == 1)
    db.run("drop_lease", turn.session)
    return status, error


def sketch(db: Database, turn: Opened, reply: Entry, now: int, lease: float) -> None:
    """Stores the reply so far, instead of the one stored before, and renews the lease."""
    check_owner(db, turn)
    partial.keep(db, turn.n, reply)
    db.run("take_lease", turn.n, turn.owner, now + int(lease * 1_000_000), turn.session)


# A whole turn at once -----------------------------------------------------------------------------------------------


def save_turn(
    db: Database,
    key: str,
    entries: list[Entry],
    now: int,
    provenance: Provenance,
    idempotency_key: str | None = None,
    after: int | None = None,
) -> list[str]:
    """Appends a complete turn in the caller's transaction; the ids of its messages."""
    if not entries or entries[-1].message.role == "user":
        raise Invalid(
            "A complete turn ends with a reply, and this one does not; nothing was saved. "
            "Use `with session.turn(…)` for a turn whose reply is still to come."
        )
    session = free(db, key, now, ids_for(entries))
    if idempotency_key is not None and (done := completed(db, session.n, idempotency_key)):
        return turn_ids(db, done)
    if after is not None and after != session.head:
        raise Conflict(f"Session {key!r} has moved on since then; nothing was saved. Fork, or read it again.")
    entries[0].parent = session.head
    saved = insert(db, entries, now, turn=0, point=session.insert_point)
    first, last = saved.first, saved.last
    insert_turn(db, session, first, last, "complete", provenance, idempotency_key, now, now)
    move_head(db, session.n, last, now, session.newest)
    return saved.ids


def completed(db: Database, session: int, idempotency_key: str) -> int | None:
    """The turn that was completed under this key. A try that did not complete gives the key up."""
    row = db.row("turn_by_key", session, idempotency_key)
    if row is None:
        return None
    turn, status = row
    if status == "complete":
        return int(turn)
    db.run("drop_idempotency_key", turn)
    return None


def turn_ids(db: Database, turn: int) -> list[str]:
    """The ids of a turn's messages, first to last."""
    span = lookup.span(db, turn)
    assert span is not None
    numbers = [n for n in lookup.ancestors(db, span.last) if n >= turn]
    by_number = lookup.ids_of(db, numbers)
    return [by_number[n] for n in sorted(numbers)]


def insert_turn(
    db: Database, session: State, first: int, last: int, status: str, p: Provenance,
    idempotency_key: str | None, started: int, finished: int | None,
) -> None:  # fmt: skip
    db.run("insert_turn", *turn_row(session, first, last, status, p, idempotency_key, started, finished))


def turn_row(
    session: State, first: int, last: int, status: str, p: Provenance,
    idempotency_key: str | None, started: int, finished: int | None, error: str | None = None,
) -> TurnRow:  # fmt: skip
    """The row of a turn that follows where the session stands."""
    u = p.usage
    return TurnRow(
        first, session.n, idempotency_key, session.head, last, status, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
        p.instructions_digest, p.caller, p.caller_call, error and column(error), p.kept_metadata, started,
        p.first_token_at, finished,
    )  # fmt: skip


def look_again(db: Database, turn: Opened) -> tuple[Opened, Status]:
    """A turn as it is stored now, and its status."""
    span = lookup.span(db, turn.n)
    if span is None:
        raise NotFound(f"Turn {turn.id!r} was deleted.")
    return _reload(db, turn.n, turn.session, turn.owner), span.status


def _reload(db: Database, turn: int, session: int, owner: str, repeated: bool = False) -> Opened:
    row = db.row("turn", turn)
    span = lookup.span(db, turn)
    assert row is not None
    assert span is not None
    info = turn_info(row)
    provenance = Provenance(usage=info.usage, context_tokens=info.context_tokens, metadata=info.metadata or {})
    return Opened(turn, info.id, session, span.parent, span.last, owner, provenance, repeated)
