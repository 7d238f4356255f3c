"""Further answers to a question that is stored: turns that begin with a reply.

Such a turn has no message, and so no number, until its first one is stored: see `partial`. Several of them may share
one lease, which has the number of the question, below zero. The head moves when the lease is given back.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.db import Database
from bough.errors import Conflict, Refused
from bough.model import Status, Usage, ids
from bough.model.values import UNSET, mutable, replace, value
from bough.storage import changes, leases, lookup, partial, replies, turns
from bough.storage.leases import SessionState
from bough.storage.messages import Entry, Saved, taken
from bough.storage.replies import ReplyDetails
from bough.storage.turns import IN_DIALOG, NO_REPLY, UNFINISHED, Ending, OpenTurn, TurnDetails

MOVED_ON = "The session moved on in the meantime."


@mutable
class Asked:
    """The answers that are being written to one question."""

    question: int
    expected: int | None
    """Where the head was."""
    turn: int | None = None
    """The number of the question's own turn, if it was asked with these answers."""
    alone: bool = True
    """Whether there is one answer, with which the lease ends."""


@value
class Opened:
    """Answers that were opened together."""

    asked: Asked
    turns: Sequence[OpenTurn]


def question_of(db: Database, at: int | None) -> int:
    """The question of the turn of a message: the nearest message of the user on its path. Raises `Refused`."""
    header = lookup.header(db, at)
    while header is not None and (header.role != "user" or header.n == header.summary):
        header = lookup.header(db, header.parent)
    if header is None:
        raise Refused("There is no question to answer again; nothing was changed. Ask one with `turn`.")
    return header.n


def open_answers(
    db: Database,
    key: str,
    at: str | None,
    each: Sequence[TurnDetails],
    label: str | None,
    idempotency_key: str | None,
    alone: bool,
    owner: str,
    lease: float,
    now: int,
) -> Opened:
    """Opens turns that answer a question: that of a message, or of the head. Raises `Refused`."""
    session = leases.unleased(db, key, now, directory=each[0].directory)
    question = question_of(db, session.head if at is None else lookup.number(db, at))
    asked = Asked(question, session.head, alone=alone)
    if idempotency_key is not None and (done := turns.completed(db, session.n, idempotency_key)):
        opened = turns.load(db, done, session.n, owner, repeated=True)
        if opened.parent != question:
            raise Conflict(
                f"Turn {opened.id!r} has the idempotency key {idempotency_key!r:.80} and answers something else; "
                "nothing was added. Use another key for another turn."
            )
        return Opened(asked, [opened])
    return _open(db, session, asked, each, label, idempotency_key, owner, lease, now)


def open_question(
    db: Database,
    key: str,
    entry: Entry,
    each: Sequence[TurnDetails],
    idempotency_key: str | None,
    owner: str,
    lease: float,
    now: int,
) -> Opened:
    """Opens the turn of a new question, and turns that answer it. Raises `Refused` for one that was answered."""
    own = TurnDetails(caller=each[0].caller, caller_call=each[0].caller_call, directory=each[0].directory)
    turn = turns.open_turn(db, key, entry, own, idempotency_key, owner, lease, UNSET, None, now)
    if turn.repeated:
        raise Refused(f"Question {turn.id!r} was asked and answered under this idempotency key; nothing was added.")
    session = leases.session_state(db, key)
    asked = Asked(turn.n, session.head, turn.n, alone=False)
    return _open(db, session, asked, each, entry.label, None, owner, lease, now)


def _open(
    db: Database, session: SessionState, asked: Asked, each: Sequence[TurnDetails], label: str | None,
    idempotency_key: str | None, owner: str, lease: float, now: int,
) -> Opened:  # fmt: skip
    opened = []
    for details, id in zip(each, ids.mint_free(len(each), lambda wanted: taken(db, wanted)), strict=True):
        n = partial.free_number(db)
        place = replace(session, head=asked.question)
        turns.insert_turn(db, place, n, asked.question, "running", details, idempotency_key, now, None)
        if details.usage != Usage():
            replies.add(db, n, n, session.n, ReplyDetails(details.model, details.provider, usage=details.usage), now)
        partial.put(db, n, partial.Sketch(label, (), id))
        opened.append(OpenTurn(n, id, session.n, asked.question, asked.question, owner, details, asked=asked))
    leases.take(db, session.n, -asked.question, owner, now, lease)
    turns.use(db, session, now, each[0].directory)
    changes.add(db, "opened", now, session.n, asked.question)
    return Opened(asked, opened)


def reopen(db: Database, session: SessionState, turn: OpenTurn, label: str | None, lease: float, now: int) -> None:
    """Continues an answer that did not complete. One that is only a half reply begins with the next one."""
    assert turn.parent is not None
    if session.head is None or turn.parent not in lookup.ancestors(db, session.head):
        raise Conflict(
            f"Session {session.key!r} has moved on since turn {turn.id!r}; fork at {turn.id!r} to go on from there."
        )
    db.run("reopen_turn", turn.n)
    if turn.last == turn.n and db.row("half_reply", turn.n):
        (turn.id,) = ids.mint_free(1, lambda wanted: taken(db, wanted))
        turn.n, turn.last = partial.unbegin(db, turn.n, turn.parent, label, turn.id), turn.parent
    else:
        turn.last = partial.without_half_reply(db, turn.n, turn.last)
    turn.asked = Asked(turn.parent, session.head)
    leases.take(db, session.n, -turn.parent, turn.owner, now, lease)


def is_answer(db: Database, turn: OpenTurn) -> bool:
    """Whether a turn answers a question of another one: it begins with a reply, below words of the user."""
    first, before = lookup.header(db, turn.n), lookup.header(db, turn.parent)
    return first is not None and before is not None and first.role != "user" and before.role == "user"


def begin(
    db: Database, turn: OpenTurn, entries: list[Entry], p: TurnDetails, reply: ReplyDetails, now: int, lease: float
) -> Saved:
    """Adds the first messages of an answer."""
    leases.renew(db, turn.session, turn.id, turn.owner, now, lease)
    saved = partial.begin(db, turn.n, entries, now)
    begun = replace(turn, n=saved.first, id=saved.ids[0], last=saved.last)
    turns.extend_row(db, begun, saved.last, p, reply)
    at = saved.first + replies.reply_index([entry.message for entry in entries])
    replies.add(db, at, saved.first, turn.session, reply, now)
    changes.add(db, "added", now, turn.session, saved.last)
    return saved


def finish(db: Database, turn: OpenTurn, status: Status, error: str | None, now: int) -> Ending:
    """Ends an answer. If it is the only one, the head moves to it, as at the end of every turn."""
    row = db.row("leased_session", turn.session, turn.owner)
    if row is None or turn.asked is None:
        return Ending("interrupted", turns.TAKEN_OVER, turn.last, turn.n)
    settled = partial.settle(db, turn.n, now)
    n, last = (settled.turn, settled.last) if settled else (turn.n, turn.last)
    if status == "complete" and settled:
        status, error = "interrupted", NO_REPLY if settled.is_empty else UNFINISHED
    moves = turn.asked.alone and status in IN_DIALOG and not (settled and settled.is_empty)
    if moves and row[0] != turn.asked.expected:
        status, error, moves = "interrupted", MOVED_ON, False
    turns.end_row(db, n, status, error, now)
    if turn.asked.alone:
        _give_back(db, turn.session, last if moves else None, row[1] == 1, now)
    changes.add(db, "ended", now, turn.session, n)
    return Ending(status, error, last, n)


def close(db: Database, session: int, owner: str, asked: Asked, chosen: int | None, now: int) -> bool:
    """Ends several answers: the head moves to one of them, given by its last message. Says whether it could."""
    row = db.row("leased_session", session, owner)
    if row is None:
        return False
    could = bool(row[0] == asked.expected)
    head = chosen if could else None
    if asked.turn is not None:
        reason = None if head else MOVED_ON if chosen else NO_REPLY
        turns.end_row(db, asked.turn, "complete" if head else "interrupted", reason, now)
        changes.add(db, "ended", now, session, asked.turn)
    _give_back(db, session, head, row[1] == 1, now)
    if head is not None:
        changes.add(db, "moved", now, session, head)
    return could


def _give_back(db: Database, session: int, head: int | None, is_newest: bool, now: int) -> None:
    if head is None:
        db.run("drop_lease", session)
        return
    db.run("advance_head", head, now, session)
    if not is_newest:
        db.run("use_session", now, session)
