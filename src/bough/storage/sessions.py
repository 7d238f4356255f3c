"""Creates, forks and deletes sessions, inside a transaction that the caller holds."""

from __future__ import annotations

from collections.abc import Sequence

from bough.codec import column, json_list, json_text, session_infos
from bough.db import Database, Value
from bough.db.rows import SessionRow
from bough.errors import Conflict
from bough.model import Json, SessionInfo, ids, keys
from bough.model.values import UNSET, Unset, replace, value
from bough.storage import changes, journal, leases, lookup, trash


@value
class Description:
    """Metadata that an application gives a session; None leaves the stored value."""

    directory: str | None = None
    title: str | None = None
    agent: str | None = None
    model: str | None = None
    extra: Json = None

    @property
    def columns(self) -> tuple[Value, ...]:
        return column(self.directory), column(self.title), self.agent, self.model, json_text(self.extra)

    @property
    def is_empty(self) -> bool:
        return self == Description()


def find(db: Database, key: str) -> SessionInfo | None:
    row = db.row("session", key)
    return None if row is None else session_infos([row])[0]


def make_or_update(db: Database, key: str, given: Description, now: int) -> int:
    """The number of the session with this key, created or updated with the given metadata.

    A session that exists keeps its directory.
    """
    number = lookup.session_number(db, key)
    if number is None:
        parsed = keys.parse_key(key)
        parent = lookup.session_number(db, parsed.parent) if parsed.parent else None
        return insert(db, key, given, now, parent=parent)
    given = replace(given, directory=None)
    if not given.is_empty:
        update(db, key, given, UNSET, now)
    return number


def update(db: Database, key: str, given: Description, extra: Json | Unset, now: int) -> None:
    """Updates a session with the given metadata; `extra=None` clears it. Raises `NotFound`."""
    number = leases.session_state(db, key).n
    before = None if given.title is None else trash.session_row(db, number)
    if not given.is_empty:
        db.run("update_session", *given.columns, number)
    if not isinstance(extra, Unset):
        db.run("set_extra", json_text(extra), number)
    changes.add(db, "updated", now, number)
    if before is not None and before.title != (title := column(given.title)):
        journal.add(db, "title", now, session=number, before=before.title, after=title)


def expire(db: Database, key: str, at: int | None, after: int | None, now: int) -> None:
    """Sets when a session expires: at a time, or a while after its last use; never for two Nones."""
    number = leases.session_state(db, key).n
    db.run("set_expiry", at, after, number)
    changes.add(db, "updated", now, number)


def insert(
    db: Database, key: str, given: Description, now: int,
    *, head: int | None = None, parent: int | None = None, forked_from: str | None = None,
) -> int:  # fmt: skip
    parsed = keys.parse_key(key)
    directory, title, agent, model, extra = given.columns
    row = db.row(
        "insert_session", key, parsed.channel, parsed.channel_id, directory, head, head, now, parent, forked_from,
        title, agent or parsed.agent, model, extra, now, now,
    )  # fmt: skip
    assert row is not None
    (number,) = row
    changes.add(db, "created", now, number, head)
    return int(number)


def fork(db: Database, at: str, key: str | None, title: str | None, source: str | None, now: int) -> str:
    """Creates a session whose head is a message, with the metadata of its source; its key. Raises `Conflict`."""
    head = lookup.number(db, at)
    origin = find(db, source) if source else None
    key = key or fork_key(db, origin.channel if origin else None)
    if lookup.session_number(db, key):
        raise Conflict(f"There is a session {key!r} already; choose another key.")
    given = Description(title=title)
    if origin:
        given = Description(origin.directory, title or origin.title, origin.agent, origin.model, origin.extra)
    number = insert(db, key, given, now, head=head, forked_from=source)
    if source:
        db.run("fork_documents", number, lookup.session_number(db, source))
    return key


def fork_key(db: Database, channel: str | None) -> str:
    prefix = f"{channel}:fork:" if channel else "fork:"

    def used(wanted: list[str]) -> set[str]:
        return {name for name in wanted if lookup.session_number(db, prefix + name)}

    return prefix + ids.mint_free(1, used)[0]


def delete(db: Database, key: str, now: int, keep: bool) -> int:
    """Deletes a session with its delegates, and the messages that no other session reaches; how many. Raises `Busy`."""
    members = family(db, key)
    for member in members:
        leases.unleased(db, member.key, now)
        changes.add(db, "deleted", now, member.n)
    doomed = reached_only_by(db, members)
    entry = trash.delete(db, doomed, now, f"session {key}", keep, [member.n for member in members])
    if entry is not None:
        journal.add(db, "delete", now, session=members[0].n, after=f"session {key!r}", trash=entry)
    return len(doomed)


def clear(db: Database, key: str, now: int) -> None:
    """Empties a session; the messages that no other session reaches go to the trash. Raises `Busy`."""
    session = leases.unleased(db, key, now)
    doomed = reached_only_by(db, [session])
    if doomed or session.head is not None:
        changes.add(db, "cleared", now, session.n)
    entry = trash.delete(db, doomed, now, f"clear {key}", emptied=session.n)
    if entry is not None:
        journal.add(db, "clear", now, session=session.n, trash=entry)


def new(db: Database, key: str, title: str | None, now: int) -> str | None:
    """Empties a session, and creates one with its former head; the key of that, or None if it had no head."""
    head = lookup.id_of(db, leases.session_state(db, key).head)
    if head is None:
        return None
    session, before = leases.unleased(db, key, now), find(db, key)
    assert before is not None
    archived = fork(db, head, None, title, key, now)
    db.run("advance_head", None, now, session.n)
    db.run("use_session", now, session.n)  # before its former place is free for the other one
    _date(db, archived, before)
    kept = _keep_as(db, archived, session.n)
    changes.add(db, "moved", now, session.n)
    journal.add(db, "new", now, session=session.n, before=kept.n, after=journal.new_state(db, kept))
    return archived


def _date(db: Database, key: str, origin: SessionInfo) -> None:
    """Gives a session the place and the time of another one in the order of last use."""
    number = leases.session_state(db, key).n
    db.run("date_session", origin.created_at, origin.updated_at, number)
    trash.place(db, number, origin.cursor)


def _keep_as(db: Database, key: str, origin: int) -> SessionRow:
    """Gives a session the pin and the expiry of another one; its row."""
    number, row = leases.session_state(db, key).n, trash.session_row(db, origin)
    assert row is not None
    db.run("pin_session", row.pinned_at, number)
    db.run("set_expiry", row.expires_at, row.expires_after, number)
    kept = trash.session_row(db, number)
    assert kept is not None
    return kept


def delegate(db: Database, parent: str, child: str, agent: str, message: str | None, now: int) -> None:
    """Creates the session of a delegate, linked to the session and the message that delegate to it."""
    number = None if message is None else lookup.number(db, message)
    owner = leases.session_state(db, parent).n
    known = lookup.session_number(db, child)
    session = known or insert(db, child, Description(agent=agent), now)
    db.run("link_session", owner, number, session)
    if known:
        changes.add(db, "updated", now, known)


def family(db: Database, key: str) -> list[leases.SessionState]:
    """A session, its delegates, and theirs."""
    members = [leases.session_state(db, key)]
    for member in members:
        members += [leases.session_state(db, child) for _, child in db.rows("child_sessions", member.n)]
    return members


def reached_only_by(db: Database, sessions: Sequence[leases.SessionState]) -> list[int]:
    """The messages that go with these sessions: their paths and side branches.

    Less the paths of messages that are heads of other sessions, or that they have added or continued.
    """
    members = {session.n for session in sessions}
    own: set[int] = set()
    for session in sessions:
        own |= {n for (n,) in db.rows("steps_of_session", session.n)}
        if session.head is not None:
            own |= set(lookup.ancestors(db, session.head))
    own |= summaries_after(db, own)
    everything = json_list(own)
    needed = {at for n, at in db.rows("sessions_at", everything) if n not in members}
    needed |= {n for n, session in db.rows("sessions_of_messages", everything) if session not in members}
    needed |= {parent for parent, n in db.rows("children_of_any", everything) if n not in own}
    kept: set[int] = set()
    for n in needed:
        if n not in kept:
            kept |= set(lookup.ancestors(db, n))
    return sorted(own - kept)


def summaries_after(db: Database, messages: set[int]) -> set[int]:
    """The summaries that follow these messages and belong to no turn; one may follow another."""
    found: set[int] = set()
    latest = messages
    while latest := {n for (n,) in db.rows("summaries_after", json_list(latest))} - messages - found:
        found |= latest
    return found


def passing(db: Database, n: int) -> list[SessionInfo]:
    """The sessions whose path contains a message, the most recently used first."""
    below = json_list(below for (below,) in db.rows("with_descendants", json_list([n])))
    rows = [db.row("session_by_number", session) for session, _ in db.rows("sessions_at", below)]
    return sorted(session_infos(filter(None, rows)), key=lambda info: -info.cursor)
