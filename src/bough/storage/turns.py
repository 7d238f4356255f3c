"""Turns: how a run becomes part of a session, or a side branch.

A turn opens with its input already durable and takes the session's lease in the same transaction. Each step is durable
when it is added. The session's head moves only when the turn completes or is stopped by a person, and only if it
was not moved since. Any other turn stays as a side branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from bough.codec import column, json_text, turn_info
from bough.codec.digest import link, short_hash
from bough.db import Database
from bough.db.rows import TurnRow
from bough.errors import Conflict, Invalid, NotFound, Refused
from bough.model import Json, Status, TurnInfo, Usage
from bough.model.usage import NOTHING
from bough.model.values import Unset, mutable, replace
from bough.storage import changes, leases, lookup, partial, replies
from bough.storage.leases import SessionState, unleased
from bough.storage.messages import Entry, Saved, ids_for, insert
from bough.storage.replies import ReplyDetails, either

if TYPE_CHECKING:
    from bough.storage.answers import Asked

NO_REPLY = "No reply was added."
UNFINISHED = "The reply was still being written."
TAKEN_OVER = "Someone took over, and put the turn aside."
IN_DIALOG = ("complete", "stopped")
"""The statuses of the turns that are part of the session's dialog."""


@mutable
class TurnDetails:
    """What a turn stores besides its messages: who answered, what it cost, who called."""

    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    usage: Usage = NOTHING
    context_tokens: int | None = None
    """The size of the dialog after the last reply, as the provider counted it."""
    instructions: str | None = None
    first_token_at: int | None = None
    metadata: Mapping[str, Json] = MappingProxyType({})
    caller: int | None = None
    caller_call: str | None = None
    directory: str | None = None
    """The directory that the turn was asked from."""

    def sum_up(self, found: Mapping[int, ReplyDetails]) -> None:
        """Takes over what the replies of a whole turn say, in their order."""
        for reply in found.values():
            self.model, self.provider = either(reply.model, self.model), either(reply.provider, self.provider)
            self.request_id = either(reply.request_id, self.request_id)
            self.usage = reply.usage if self.usage is NOTHING else self.usage + reply.usage
            self.context_tokens = dialog_size(reply.usage)

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
class OpenTurn:
    """A turn that is being written."""

    n: int
    id: str
    session: int
    parent: int | None
    last: int
    owner: str
    details: TurnDetails
    repeated: bool = False
    """It was completed or stopped before, under the same idempotency key."""
    status: Status = "running"
    asked: Asked | None = None
    """Of an answer to an existing question; its number is below zero until it has a message."""


class Ending(NamedTuple):
    """How a turn ended, which may be otherwise than asked: its status, the reason, and its last message."""

    status: Status
    error: str | None
    last: int
    n: int
    """The number of the turn, which an answer may have got only now."""


def move_head(db: Database, session: int, head: int | None) -> None:
    """Moves a session's head. This is no use of the session: it keeps its place in the order of last use."""
    db.run("move_head", head, session)


def advance(db: Database, session: SessionState, head: int | None, now: int, directory: str | None) -> None:
    """Moves a session's head past what was said there just now."""
    db.run("advance_head", head, now, session.n)
    use(db, session, now, directory)


def use(db: Database, session: SessionState, now: int, directory: str | None) -> None:
    """Makes a session the most recently used one, and the one that the directory last talked to, unless it is."""
    if not session.newest:  # one page of an index that a turn which goes on where the last one was need not write
        db.run("use_session", now, session.n)
    if directory is not None and session.last_here != session.n:
        db.run("set_directory", column(directory), session.n, now)


def parents_of_turns(db: Database, head: int | None) -> Iterator[int | None]:
    """The messages before the turns of a path, the newest turn first; None before a root.

    Outside turns, each message of the user begins one, as in `model.tree.turn_starts`. A turn takes two lookups,
    however many messages it has.
    """
    at = head
    while header := lookup.header(db, at):
        if header.turn is not None and (first := lookup.header(db, header.turn)):
            header = first
        at, is_summary = header.parent, header.summary == header.n
        if header.role != "user" and _is_question(db, at):
            continue  # an answer to a question of another turn goes with that
        if not is_summary and (header.turn is not None or header.role == "user" or header.parent is None):
            yield header.parent


def _is_question(db: Database, n: int | None) -> bool:
    """Whether a message is of the user, and no summary."""
    header = lookup.header(db, n)
    return header is not None and header.role == "user" and header.n != header.summary


# One turn, step by step ---------------------------------------------------------------------------------------------


def open_turn(
    db: Database,
    key: str,
    entry: Entry,
    details: TurnDetails,
    idempotency_key: str | None,
    owner: str,
    lease: float,
    after: int | Unset | None,
    name: tuple[str, str] | None,
    now: int,
) -> OpenTurn:
    """Stores the input of a turn, and gives the lease of the session to it."""
    session = unleased(db, key, now, ids_for([entry]), details.directory)
    if idempotency_key is not None and (done := completed(db, session.n, idempotency_key)):
        check_repeated(db, done, [entry], done, idempotency_key)
        return load(db, done, session.n, owner, repeated=True)
    check_head(session, after)
    entry.parent = session.head
    saved = insert(db, [entry], now, turn=0, point=session.insert_point)
    n, (id,) = saved.first, saved.ids
    insert_turn(db, session, n, n, "running", details, idempotency_key, now, None)
    if details.usage != NOTHING:  # what was spent before the turn began
        spent = ReplyDetails(details.model, details.provider, usage=details.usage)
        replies.add(db, n, n, session.n, spent, now)
    if name is not None:
        db.run("insert_external", name[0], column(name[1]), n, None)
    leases.take(db, session.n, n, owner, now, lease)
    use(db, session, now, details.directory)
    changes.add(db, "opened", now, session.n, n)
    return OpenTurn(n, id, session.n, session.head, n, owner, details)


def reopen(
    db: Database, key: str, turn: int, directory: str | None, label: str | None, owner: str, lease: float, now: int
) -> OpenTurn:
    """Continues a turn that did not complete."""
    session = unleased(db, key, now, directory=directory)
    row = db.row("turn", turn)
    info = None if row is None else turn_info(row)
    if info is None or info.session != key:
        raise NotFound(f"Session {key!r} has no such turn.")
    if info.status in IN_DIALOG:
        raise Refused(f"Turn {info.id!r} is {info.status}; there is nothing to resume. Fork from it instead.")
    opened = load(db, turn, session.n, owner)
    from bough.storage import answers

    if answers.is_answer(db, opened):
        answers.reopen(db, session, opened, label, lease, now)
    elif opened.parent != session.head:
        raise Conflict(
            f"Session {key!r} has moved on since turn {info.id!r}; fork at {info.last_id!r} to go on from there."
        )
    else:
        db.run("reopen_turn", turn)
        opened.last = partial.without_half_reply(db, turn, opened.last)
        leases.take(db, session.n, turn, owner, now, lease)
    use(db, session, now, directory)
    changes.add(db, "opened", now, session.n, opened.parent if opened.n < 0 else turn)
    return opened


def extend(
    db: Database, turn: OpenTurn, entries: list[Entry], p: TurnDetails, reply: ReplyDetails, now: int, lease: float
) -> Saved:
    """Adds messages, if there are any, and updates the details; renews the lease."""
    if turn.n < 0 and entries:
        from bough.storage import answers

        return answers.begin(db, turn, entries, p, reply, now, lease)
    leases.renew(db, turn.session, turn.id, turn.owner, now, lease)
    saved = Saved(turn.last + 1, [])
    if entries:
        entries[0].parent = turn.last
        db.run("drop_sketch", turn.n)
        saved = insert(db, entries, now, turn.n)
    changes.add(db, "added" if entries else "updated", now, turn.session, saved.last)
    extend_row(db, turn, saved.last, p, reply)
    at = turn.last if turn.n > 0 else turn.n
    if entries:
        at = saved.first + replies.reply_index([entry.message for entry in entries])
    replies.add(db, at, turn.n, turn.session, reply, now)
    return saved


def extend_row(db: Database, turn: OpenTurn, last: int, p: TurnDetails, reply: ReplyDetails) -> None:
    """Updates the last message of a turn and its details, and adds the usage of a reply."""
    u = reply.usage
    db.run(
        "extend_turn", last, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
        p.instructions_digest, p.kept_metadata, p.first_token_at, turn.n,
    )  # fmt: skip


def finish(db: Database, turn: OpenTurn, status: Status, error: str | None, now: int) -> Ending:
    """Ends a turn. The head moves for a complete or stopped one, unless it was moved since."""
    if turn.asked is not None:
        from bough.storage import answers

        return answers.finish(db, turn, status, error, now)
    row = db.row("turn_to_end", turn.n, turn.last, turn.session, turn.owner)
    if row is None:
        return Ending("interrupted", TAKEN_OVER, turn.last, turn.n)
    head, newest, is_half, role = row
    half = partial.settle(db, turn.n, now) if is_half else None
    last = turn.last if half is None else half.last
    if status == "complete" and half is not None:
        status, error = "interrupted", UNFINISHED
    elif status == "complete" and role in (None, "user"):
        status, error = "interrupted", NO_REPLY
    if status in IN_DIALOG and head != turn.parent:
        status, error = "interrupted", "The session moved on in the meantime."
    end_row(db, turn.n, status, error, now)
    if status in IN_DIALOG:
        db.run("advance_head", last, now, turn.session)
        if newest != 1:
            db.run("use_session", now, turn.session)
    else:
        db.run("drop_lease", turn.session)
    changes.add(db, "ended", now, turn.session, turn.n)
    return Ending(status, error, last, turn.n)


def annotate(db: Database, id: str, metadata: Mapping[str, Json], now: int) -> None:
    """Adds to the metadata of a turn, open or not; None removes a field. Raises `NotFound`."""
    n = lookup.number(db, id)
    row = db.row("turn", n)
    if row is None:
        raise NotFound(f"No turn begins at message {id!r}.")
    info = turn_info(row)
    kept = {key: one for key, one in {**(info.metadata or {}), **metadata}.items() if one is not None}
    db.run("set_turn_metadata", json_text(kept) if kept else None, n)
    owner = lookup.session_number(db, info.session) if info.session is not None else None
    changes.add(db, "updated", now, owner, n)


def end_row(db: Database, turn: int, status: Status, error: str | None, now: int) -> None:
    db.run("end_turn", status, column(error), now, turn)


def sketch(db: Database, turn: OpenTurn, reply: Entry, now: int, lease: float) -> None:
    """Stores the reply so far, instead of the one stored before, and renews the lease."""
    leases.renew(db, turn.session, turn.id, turn.owner, now, lease)
    partial.keep(db, turn.n, reply)
    changes.add(db, "sketched", now, turn.session, turn.parent if turn.n < 0 else turn.n)


# A whole turn at once -----------------------------------------------------------------------------------------------


class WholeTurn(NamedTuple):
    """A whole turn, ready to be stored."""

    entries: list[Entry]
    details: TurnDetails
    replies: Mapping[int, ReplyDetails]
    """The details of its replies, by the index of the message."""
    idempotency_key: str | None = None


def save_turn(db: Database, key: str, turn: WholeTurn, after: int | Unset | None, now: int) -> list[str]:
    """Appends a complete turn in the caller's transaction; the ids of its messages."""
    check_ends_with_reply(turn)
    entries, details = turn.entries, turn.details
    session = unleased(db, key, now, ids_for(entries), details.directory)
    if turn.idempotency_key is not None and (done := completed(db, session.n, turn.idempotency_key)):
        check_repeated(db, done, entries, None, turn.idempotency_key)
        return turn_ids(db, done)
    check_head(session, after)
    entries[0].parent = session.head
    saved = insert(db, entries, now, turn=0, point=session.insert_point)
    first, last = saved.first, saved.last
    insert_turn(db, session, first, last, "complete", details, turn.idempotency_key, now, now)
    for index, reply in turn.replies.items():
        replies.add(db, first + index, first, session.n, reply, now)
    advance(db, session, last, now, details.directory)
    changes.add(db, "added", now, session.n, last)
    return saved.ids


def check_ends_with_reply(turn: WholeTurn) -> None:
    """Raises `Invalid` for a turn that ends with the user's words."""
    if not turn.entries or turn.entries[-1].message.role == "user":
        raise Invalid(
            "A complete turn ends with a reply, and this one does not; nothing was saved. "
            "Use `with session.turn(…)` for a turn whose reply is still to come, and `append` for words without one."
        )


def check_head(session: SessionState, after: int | Unset | None) -> None:
    """Raises `Conflict` unless the head of a session is still this message, where one is given; None is no message."""
    if not isinstance(after, Unset) and after != session.head:
        raise Conflict(f"Session {session.key!r} has moved on since then; nothing was saved. Fork, or read it again.")


def completed(db: Database, session: int, idempotency_key: str) -> int | None:
    """The turn that was completed or stopped under this key. A try that was not gives the key up."""
    row = db.row("turn_by_key", session, idempotency_key)
    if row is None:
        return None
    turn, status = row
    if status in IN_DIALOG:
        return int(turn)
    db.run("drop_idempotency_key", turn)
    return None


def check_repeated(db: Database, turn: int, entries: Sequence[Entry], last: int | None, idempotency_key: str) -> None:
    """Compares messages with those of a stored turn, up to `last` or to its end. Raises `Conflict` if they differ.

    Summaries that were added to the turn are nothing that its writer said.
    """
    span = lookup.span(db, turn)
    assert span is not None
    said: list[tuple[bytes, bytes]] = []  # the digest of each message, after that of the one before it
    at, header = span.parent, lookup.header(db, span.last if last is None else last)
    while header is not None and header.n != at:
        before = lookup.header(db, header.parent)
        if header.n != header.summary:
            said.append((before.digest if before else b"", header.digest))
        header = before
    said.reverse()
    if len(said) != len(entries) or any(
        link(before, entry.draft.digest_input) != digest for (before, digest), entry in zip(said, entries, strict=True)
    ):
        raise Conflict(
            f"Turn {lookup.id_of(db, turn)!r} has the idempotency key {idempotency_key!r:.80} and other messages; "
            "nothing was saved. Use another key for another turn."
        )


def turn_ids(db: Database, turn: int) -> list[str]:
    """The ids of a turn's messages, first to last."""
    span = lookup.span(db, turn)
    assert span is not None
    numbers = [n for n in lookup.ancestors(db, span.last) if n >= turn]
    by_number = lookup.ids_of(db, numbers)
    return [by_number[n] for n in sorted(numbers)]


def insert_turn(
    db: Database, session: SessionState, first: int, last: int, status: str, p: TurnDetails,
    idempotency_key: str | None, started: int, finished: int | None,
) -> None:  # fmt: skip
    db.run("insert_turn", *turn_row(session, first, last, status, p, idempotency_key, started, finished))


def turn_row(
    session: SessionState, first: int, last: int, status: str, p: TurnDetails,
    idempotency_key: str | None, started: int, finished: int | None, error: str | None = None,
) -> TurnRow:  # fmt: skip
    """The row of a turn that follows the session's head."""
    u = p.usage
    return TurnRow(
        first, session.n, idempotency_key, session.head, last, status, p.model, p.provider, p.request_id,
        u.input_tokens, u.output_tokens, u.cached_tokens, u.reasoning_tokens, u.cost, p.context_tokens,
        p.instructions_digest, p.caller, p.caller_call, error and column(error), p.kept_metadata, started,
        p.first_token_at, finished,
    )  # fmt: skip


def reload(db: Database, turn: OpenTurn) -> tuple[OpenTurn, Status]:
    """A turn as it is stored now, and its status."""
    if turn.n < 0 and lookup.span(db, turn.n) is None:  # it has got its number
        turn = replace(turn, n=lookup.number(db, turn.id))
    span = lookup.span(db, turn.n)
    if span is None:
        raise NotFound(f"Turn {turn.id!r} was deleted.")
    return replace(load(db, turn.n, turn.session, turn.owner), id=turn.id, asked=turn.asked), span.status


def unfinished(db: Database, key: str, now: int) -> list[TurnInfo]:
    """The turns that can be resumed at the head of a session, the newest first."""
    session = leases.session_state(db, key)
    rows = db.rows("turns_since", session.n, session.head or 0)
    places = {lookup.id_of(db, at) for at in (session.head, _question(db, session.head))} if rows else ()
    here = [info for info in map(turn_info, rows) if info.parent_id in places]
    if leases.is_leased(session, now):
        return [info for info in here if info.status != "running"]
    # A running turn without a lease is one whose writer died: the next writer will mark it as interrupted.
    return [replace(info, status="interrupted") if info.status == "running" else info for info in here]


def _question(db: Database, head: int | None) -> int | None:
    """The question that the turn at the head answers; the head, where nothing does."""
    header = lookup.header(db, head)
    while header is not None and header.role != "user":
        head, header = header.parent, lookup.header(db, header.parent)
    return head


def load(db: Database, turn: int, session: int, owner: str, repeated: bool = False) -> OpenTurn:
    row = db.row("turn", turn)
    span = lookup.span(db, turn)
    assert row is not None
    assert span is not None
    info = turn_info(row)
    details = TurnDetails(usage=info.usage, context_tokens=info.context_tokens, metadata=info.metadata or {})
    status = span.status if repeated else "running"
    return OpenTurn(turn, info.id, session, span.parent, span.last, owner, details, repeated, status)
