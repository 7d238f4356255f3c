"""Adds whole messages to a session in one transaction: the end of a dialog, or many turns at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bough.codec import json_text, turn_info
from bough.db import Database
from bough.errors import Invalid
from bough.model import TurnInfo
from bough.model.values import Unset, replace
from bough.storage import changes, lookup, replies
from bough.storage.leases import SessionState, unleased
from bough.storage.messages import Entry, ids_for, insert, insert_point
from bough.storage.turns import (
    TurnDetails,
    WholeTurn,
    advance,
    check_ends_with_reply,
    check_head,
    check_repeated,
    completed,
    turn_ids,
    turn_row,
)


class Place(NamedTuple):
    """Some messages of a list that belong to one turn: the first index, and the one after the last."""

    start: int
    end: int


def append(
    db: Database, key: str, given: WholeTurn, after: int | Unset | None, at: int | Unset | None, now: int
) -> list[str]:
    """Adds messages to the end of a session, or after the message `at`, whatever they end with; their ids.

    The user's words begin a turn; what precedes them continues the turn at the head. With an idempotency key, all of
    them are one turn.
    """
    entries, details, found, idempotency_key = given
    session = unleased(db, key, now, ids_for(entries), details.directory)
    if idempotency_key is not None and (done := completed(db, session.n, idempotency_key)):
        check_repeated(db, done, entries, None, idempotency_key)
        return turn_ids(db, done)
    check_head(session, after)
    point = (
        session.insert_point if isinstance(at, Unset) or at == session.head else insert_point(db, at, ids_for(entries))
    )
    if not isinstance(at, Unset):
        session = replace(session, head=at)
    continued = None if idempotency_key or entries[0].message.role == "user" else _turn_at_head(db, session)
    places = [Place(0, len(entries))] if idempotency_key else _places(entries)
    first = point.highest + 1
    entries[0].parent = session.head
    for place in places:
        turn = lookup.number(db, continued.id) if continued and not place.start else first + place.start
        for entry in entries[place.start : place.end]:
            entry.turn = turn
    saved = insert(db, entries, now, point=point)
    for place in places:
        own = {index: reply for index, reply in found.items() if place.start <= index < place.end}
        news = details
        if len(own) < len(found) or len(places) > 1:  # the details are those of several turns
            news = TurnDetails(metadata=details.metadata, caller=details.caller, caller_call=details.caller_call)
            news.sum_up(own)
        if continued and not place.start:
            _extend(db, continued, entries[0].turn or 0, first + place.end - 1, news, now)
        else:
            base = session if not place.start else replace(session, head=first + place.start - 1)
            row = turn_row(
                base, first + place.start, first + place.end - 1, "complete", news, idempotency_key, now, now
            )  # fmt: skip
            db.run("insert_turn", *row)
        for index, reply in own.items():
            replies.add(db, first + index, entries[place.start].turn, session.n, reply, now)
    advance(db, session, saved.last, now, details.directory)
    changes.add(db, "added", now, session.n, saved.last)
    return saved.ids


def _turn_at_head(db: Database, session: SessionState) -> TurnInfo | None:
    """The complete turn of a session that ends at its head, unless it has an idempotency key, which fixes its words."""
    header = lookup.header(db, session.head)
    span = lookup.span(db, header.turn) if header else None
    if header is None or span is None or span.last != session.head or span.session != session.n:
        return None
    row = db.row("turn", header.turn)
    info = None if row is None or span.status != "complete" else turn_info(row)
    return info if info is not None and info.idempotency_key is None else None


def _extend(db: Database, info: TurnInfo, turn: int, last: int, p: TurnDetails, now: int) -> None:
    """Makes a complete turn end later."""
    u, metadata = p.usage, {**(info.metadata or {}), **p.metadata}
    db.run(
        "extend_turn", last, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
        p.instructions_digest, json_text(metadata) if metadata else None, p.first_token_at, turn,
    )  # fmt: skip
    db.run("end_turn", "complete", None, now, turn)


def _places(entries: Sequence[Entry]) -> list[Place]:
    """The turns of a list of messages: the user's words begin one, unless they follow others of the user."""
    roles = [entry.message.role for entry in entries]
    starts = [at for at in range(1, len(roles)) if roles[at] == "user" and roles[at - 1] != "user"]
    return [Place(start, end) for start, end in zip([0, *starts], [*starts, len(entries)], strict=True)]


def save_turns(
    db: Database, key: str, whole: Sequence[WholeTurn], after: int | Unset | None, now: int
) -> list[list[str]]:
    """Adds complete turns, one after the other; the ids of the messages of each. A repeated one adds nothing."""
    for turn in whole:
        check_ends_with_reply(turn)
    everything = [entry for turn in whole for entry in turn.entries]
    session = unleased(db, key, now, ids_for(everything), whole[0].details.directory)
    done = _repeated(db, session, whole)
    new = [turn for at, turn in enumerate(whole) if at not in done]
    entries = [entry for turn in new for entry in turn.entries]
    if not entries:
        return [turn_ids(db, done[at]) for at in range(len(whole))]
    check_head(session, after)
    at = first = session.insert_point.highest + 1
    rows = []
    for turn in new:
        for index, entry in enumerate(turn.entries):
            place = at - first + index
            entry.turn, entry.parent, entry.after = at, None if place else session.head, place - 1 if place else None
        before = replace(session, head=session.head if at == first else at - 1)
        last = at + len(turn.entries) - 1
        rows.append(turn_row(before, at, last, "complete", turn.details, turn.idempotency_key, now, now))
        at = last + 1
    point = session.insert_point if not done else None  # else fewer ids are wanted than were looked up
    saved = insert(db, entries, now, point=point)
    db.run_many("insert_turn", rows)
    for turn, row in zip(new, rows, strict=True):
        for index, reply in turn.replies.items():
            replies.add(db, row.n + index, row.n, session.n, reply, now)
    advance(db, session, saved.last, now, whole[0].details.directory)
    changes.add(db, "added", now, session.n, saved.last)
    ids = iter(saved.ids)
    return [
        turn_ids(db, done[at]) if at in done else [next(ids) for _ in turn.entries] for at, turn in enumerate(whole)
    ]


def _repeated(db: Database, session: SessionState, whole: Sequence[WholeTurn]) -> dict[int, int]:
    """The stored turns with the idempotency keys of these, by index. Raises `Conflict` and `Invalid`."""
    found: dict[int, int] = {}
    keys = [turn.idempotency_key for turn in whole if turn.idempotency_key is not None]
    if len(set(keys)) < len(keys):
        raise Invalid("An idempotency key is given twice; nothing was saved.")
    for at, turn in enumerate(whole):
        if turn.idempotency_key is not None and (done := completed(db, session.n, turn.idempotency_key)):
            check_repeated(db, done, turn.entries, None, turn.idempotency_key)
            found[at] = done
    return found
