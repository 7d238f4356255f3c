"""Record a complete dialog: find its stored prefix, and store the rest as turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bough.codec import column
from bough.db import Database
from bough.model import Message
from bough.model.values import replace
from bough.storage import changes, lookup, replies, sessions
from bough.storage.leases import SessionState, find_session_state, unleased
from bough.storage.messages import Entry, ids_for, insert, taken
from bough.storage.replies import ReplyDetails, reply_row
from bough.storage.turns import IN_DIALOG, TurnDetails, advance, dialog_size, insert_turn, move_head, use

SHORT = 16
"""Up to this many messages, encoding all of them is faster than finding the new ones."""


def draft_new(db: Database, key: str, entries: list[Entry], digests: list[bytes]) -> None:
    """Hash and compress the messages that are probably new, before the write lock is taken."""
    known = 0
    if len(entries) > SHORT:
        with db.reading():
            session = find_session_state(db, key)
            known = len(_known_prefix(db, session.head, digests)) if session else 0
    for entry in entries[known:]:
        entry.draft  # noqa: B018


class Recording(NamedTuple):
    """A complete dialog, ready to be recorded."""

    entries: list[Entry]
    digests: list[bytes]
    details: TurnDetails
    """Of its last turn."""
    reply: ReplyDetails | None
    """Of its last message, if that is a provider's reply."""


def session_below(db: Database, prefix: str, digests: list[bytes]) -> str | None:
    """The key of the session `{prefix}:{id of the first message}` of a dialog; None if the message is not stored."""
    (root,) = db.row("roots_by_digest", digests[0]) or (None,)
    first = lookup.id_of(db, root)
    return None if first is None else f"{prefix}:{first}"


def record_below(db: Database, prefix: str, given: Recording, name: tuple[str, str] | None, now: int) -> str:
    """Like `record`, in the session `{prefix}:{id of the first message}`, which is made if there is none; its key."""
    key, first = session_below(db, prefix, given.digests), given.entries[0]
    while key is None:
        (wanted,) = ids_for([first])
        if taken(db, [wanted]):
            first.id = None
        else:
            key = f"{prefix}:{wanted}"
    sessions.make_or_update(db, key, sessions.Description(model=given.details.model), now)
    record(db, key, given, now)
    if name is not None:
        (*_, last) = _known_prefix(db, None, given.digests)
        db.run("insert_external", name[0], column(name[1]), last, None)
    return key


def record(db: Database, key: str, given: Recording, now: int) -> list[str]:
    """Store the new messages of a dialog, and move the session to its end; return the ids of the new messages."""
    entries, digests, p, reply = given
    session = unleased(db, key, now, directory=p.directory)
    messages = [entry.message for entry in entries]
    known = _known_prefix(db, session.head, digests)
    fresh = entries[len(known) :]
    if not fresh:
        _move_to(db, session, known, messages, now)
        return []
    anchor = known[-1] if known else None
    head = _last_reply(known, messages)
    saved: list[str] = []
    earlier = TurnDetails(p.model, directory=p.directory)
    for turn in (split := _split(fresh)):
        turn[0].parent, turn[0].after = anchor, None
        for before, entry in enumerate(turn[1:]):
            entry.after = before
        unfinished = _unfinished(db, session.n, anchor) if turn[0].message.role != "user" else None
        added = insert(db, turn, now + len(saved), turn=unfinished or 0)
        anchor = added.last
        complete = turn[-1].message.role != "user"
        if unfinished:
            db.run("cut_turn", anchor, unfinished)
            db.run("end_turn", "complete" if complete else "interrupted", None, now, unfinished)
        else:
            place, told = replace(session, head=turn[0].parent), p if turn is split[-1] else earlier
            insert_turn(db, place, added.first, anchor, "complete" if complete else "interrupted", told, None, now, now)
        if p.model is not None:
            _note_model(db, session.n, unfinished or added.first, added.first, turn, p.model, now)
        if reply is not None and turn is split[-1]:
            _attribute(db, session.n, unfinished or added.first, anchor, p, reply, now)
        head = anchor if complete else head
        saved += added.ids
    if head is not None and head != session.head:
        advance(db, session, head, now, p.directory)
        if head in known:  # perhaps of another session's turn
            db.run("place_head", session.n)
    else:
        db.run("date_use", now, session.n)
        use(db, session, now, p.directory)
    changes.add(db, "added", now, session.n, anchor)
    return saved


def _note_model(db: Database, session: int, turn: int, first: int, entries: list[Entry], model: str, now: int) -> None:
    """Stores which model gave the replies among new messages."""
    replies = (first + index for index, entry in enumerate(entries) if entry.message.role == "assistant")
    db.run_many("add_reply", [reply_row(n, turn, session, ReplyDetails(model), now) for n in replies])


def _attribute(
    db: Database, session: int, turn: int, last: int, p: TurnDetails, reply: ReplyDetails, now: int
) -> None:  # fmt: skip
    """Stores the details of the reply that ends a turn, with that turn."""
    u = reply.usage
    db.run(
        "extend_turn", last, reply.model, reply.provider, reply.request_id, u.input_tokens, u.output_tokens,
        u.cached_tokens, u.reasoning_tokens, u.cost, dialog_size(u), p.instructions_digest, p.kept_metadata,
        reply.first_token_at, turn,
    )  # fmt: skip
    replies.add(db, last, turn, session, reply, now)


def _known_prefix(db: Database, head: int | None, digests: list[bytes]) -> list[int]:
    """The stored nodes of the longest stored prefix. If messages were only appended, the head alone is looked up."""
    place = {digest: index for index, digest in enumerate(digests)}
    at = head
    while at is not None:
        header = lookup.header(db, at)
        if header is None or header.digest in place:
            break
        at = header.parent
    if at is None:
        (at,) = (db.row("roots_by_digest", digests[0]) if digests else None) or (None,)
    if at is None:
        return []
    known = sorted(lookup.ancestors(db, at))
    while len(known) < len(digests):
        below = [n for n, digest in db.rows("child_digests", known[-1]) if digest == digests[len(known)]]
        if not below:
            break
        known.append(below[0])
    return known


def _move_to(db: Database, session: SessionState, known: list[int], messages: Sequence[Message], now: int) -> None:
    """Move the head for a dialog without new messages; not if the head is already in or below the dialog."""
    target = _last_reply(known, messages)
    if target is None or target == session.head:
        return
    if session.head is not None and target in lookup.ancestors(db, session.head):
        return
    move_head(db, session.n, target)
    changes.add(db, "moved", now, session.n, target)


def _last_reply(known: list[int], messages: Sequence[Message]) -> int | None:
    for n, message in zip(reversed(known), reversed(messages[: len(known)]), strict=True):
        if message.role != "user":
            return n
    return None


def _split(entries: list[Entry]) -> list[list[Entry]]:
    """Split new messages into turns: each user message starts one."""
    turns: list[list[Entry]] = []
    for entry in entries:
        if not turns or (entry.message.role == "user" and turns[-1][-1].message.role != "user"):
            turns.append([])
        turns[-1].append(entry)
    return turns


def _unfinished(db: Database, session: int, n: int | None) -> int | None:
    """The turn of this session that ended at this message without a reply."""
    header = lookup.header(db, n)
    turn = header and lookup.span(db, header.turn)
    if header is None or turn is None:
        return None
    return header.turn if turn.last == n and turn.session == session and turn.status not in IN_DIALOG else None
