"""The store and its verbs.

Transactions begin and end here. Each verb is implemented in `storage`, `ingest` or `context`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeVar

from bough import codec
from bough.codec import column, decode, json_list
from bough.db import Database, Row, StrPath
from bough.db.rows import ExternalRow
from bough.errors import Ambiguous, Busy, Corrupt, Invalid, NotFound, Refused
from bough.model import (
    Change,
    Document,
    ExternalName,
    Finding,
    Headline,
    Json,
    Message,
    Node,
    Pin,
    ReplyInfo,
    Save,
    SessionInfo,
    Size,
    ToolCall,
    Totals,
    TrashEntry,
    TurnInfo,
    Undoable,
    Usage,
)
from bough.model.arguments import at_least, one_of
from bough.model.branches import Comparison, PathWindow, Segment
from bough.model.ids import AFTER_ALL, check_id, names
from bough.model.keys import parse_key
from bough.model.nodes import STATUSES
from bough.model.search import Facets, Hits
from bough.model.times import micros, span
from bough.model.tree import Tree, grow, pending_calls
from bough.model.values import replace
from bough.session import WAIT, Session, recording
from bough.storage import (
    branches,
    changes,
    documents,
    facets,
    journal,
    leases,
    lookup,
    outline,
    pins,
    previews,
    replies,
    search,
    search_query,
    sessions,
    trash,
    turns,
)
from bough.storage import partial as partial_replies
from bough.storage.changes import AfterCommit, Follower, Observed, report
from bough.storage.messages import BeforeSave, Entry, Saved, admit, insert, prepare
from bough.storage.past import Past
from bough.storage.replies import ReplyDetails

if TYPE_CHECKING:
    from typing import Self

    from bough.model.imported import Archive, Conversation, ImportResult
    from bough.model.previews import SessionPreview
    from bough.model.search import Has, IndexStatus, Query
    from bough.model.times import Span, Time
    from bough.model.turns import RunningReply
    from bough.protocols import Progress
    from bough.storage.copy import Copied
    from bough.storage.replies import Group, Pair
    from bough.storage.retention import Idle

T = TypeVar("T")
EVERYTHING = 2**62
PAGE = 200
DOCUMENTS = 8
"""Documents that are in memory at a time: each has up to 1 MiB."""


def now() -> int:
    """The time in microseconds since 1970."""
    return time.time_ns() // 1000


def _before(as_of: Time | None, nodes: Iterable[Node]) -> Iterable[Node]:
    """The nodes that were there at a time: a parent is always earlier than its children."""
    if as_of is None:
        return nodes
    time = micros(as_of, "as_of")
    return [node for node in nodes if node.created_at <= time]


class Store:
    """A store of conversations. Safe to use from several threads; `with` closes it."""

    def __init__(
        self, db: Database, clock: Callable[[], int] = now,
        before_save: BeforeSave | None = None, after_commit: AfterCommit | None = None,
    ) -> None:  # fmt: skip
        self.db = db
        self.clock = clock
        self.before_save = before_save
        self.after_commit = after_commit
        self.reads_ahead = False
        """Whether messages are decoded when they are loaded, and not at their first use."""
        if not db.read_only and any(leases.is_abandoned(turn, clock()) for turn in leases.running(db)):
            with suppress(Busy):  # who only reads does not wait: the next writer ends those turns
                self.write(lambda now: leases.recover(db, now))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file. Using the store afterwards raises `Refused`."""
        self.db.close()

    # Messages -------------------------------------------------------------------------------------------------------

    def save_messages(self, saves: Sequence[Save]) -> list[str]:
        """Saves all of them or none; their ids, in the same order.

        Raises `NotFound` for an unknown parent, and `Invalid` for a parent that comes after its child, or for a message
        or a time that cannot be stored.
        """
        entries = self.prepare([save.message for save in saves])
        indexes = {id(save): index for index, save in enumerate(saves)}
        for index, (save, entry) in enumerate(zip(saves, entries, strict=True)):
            entry.label, made = save.label, save.created_at
            entry.created_at = made if made is None or isinstance(made, int) else micros(made, "created_at")
            entry.after = indexes.get(id(save.parent_id), index) if isinstance(save.parent_id, Save) else None
            if entry.after is not None and entry.after >= index:
                raise Invalid("A parent must come before its child in the same call; nothing was saved.")
        parents = [None if isinstance(save.parent_id, Save) else save.parent_id for save in saves]
        wanted = sorted({check_id(parent) for parent in parents if parent is not None})

        def insert_all(now: int) -> Saved:
            numbers = lookup.numbers(self.db, wanted)
            for parent, entry in zip(parents, entries, strict=True):
                entry.parent = None if parent is None else numbers[parent]
            saved = insert(self.db, entries, now)
            changes.add(self.db, "added", now, None, saved.last)
            return saved

        return self.write(insert_all).ids if entries else []

    def get_messages(self, ids: Sequence[str]) -> list[Node]:
        """The messages with these ids, in this order. Raises `NotFound` naming the ones that are not there."""
        with self.db.reading():
            numbers = lookup.numbers(self.db, ids)
            found = {node.id: node for node in self.load(self.db.rows("nodes", json_list(set(numbers.values()))))}
            full = lookup.ids_of(self.db, numbers.values())
        return [found[full[numbers[id]]] for id in ids]

    def list_messages(
        self, offset: int = 0, limit: int | None = None, ascending: bool = False, *, label: str | None = None
    ) -> Iterator[Node]:
        """Every message, the newest first, or the oldest with `ascending`. A few are in memory at a time.

        With `label`, only those with this label. Raises `Invalid` for a negative `offset` or `limit`.
        """
        at_least("offset", offset, 0)
        at_least("limit", limit, 0)
        count = EVERYTHING if limit is None else limit
        if label is None:
            return self._pages("page_up" if ascending else "page_down", (), offset, count)
        statement = "labelled_up" if ascending else "labelled_down"
        return self._pages(statement, (column(label),), offset, count)

    def delete_messages(self, ids: Sequence[str], recursive: bool = False, *, keep: bool = True) -> None:
        """Deletes messages, with all that follows them if `recursive`. An id that is not there is not an error.

        What is deleted goes to the trash, unless `keep` is False. A session that stood there moves to the nearest
        message that is left. Raises `Refused`, and deletes nothing, when a message has children and is not recursive.
        """

        def work(now: int) -> None:
            tops = found = [n for _, n in self.db.rows("numbers", json_list(map(str, ids)))]
            if recursive:
                found = [n for (n,) in self.db.rows("with_descendants", json_list(found))]
            elif row := self.db.row("first_child", json_list(found)):
                parent, child = row
                raise Refused(
                    f"Message {parent!r} has children ({child!r} among them); nothing was deleted. "
                    "Delete it with recursive=True (--cascade) to delete them too."
                )
            for n in tops:
                changes.add(self.db, "deleted", now, None, n)
            owner = lookup.session_of(self.db, tops)
            entry = trash.delete(self.db, sorted(found), now, f"messages {names(ids)}", keep)
            if entry is not None:
                journal.add(self.db, "delete", now, session=owner, after=f"messages {names(ids)}", trash=entry)

        self.write(work)

    # The tree -------------------------------------------------------------------------------------------------------

    def path(self, id: str, last: int | None = None) -> list[Node]:
        """The dialog that leads to a message, root first; only the end of it with `last`. Raises `NotFound`.

        As with every node that is loaded, `node.message` is decoded at its first use, from what was loaded: it
        needs no store, and raises `Corrupt` for content that is damaged.
        """
        return self.load_path("path", check_id(id), last) or self.load_path("path", lookup.full_id(self.db, id), last)

    def window(self, id: str, around: str | None = None, size: int = PAGE) -> PathWindow:
        """A part of the path to a message: its end, or `size` messages with another one of the path in their middle.

        Only these are loaded. Raises `NotFound`, also for a message that is not on the path, and `Invalid`.
        """
        at_least("size", size, 1)
        with self.db.reading():
            path = lookup.ancestors(self.db, lookup.number(self.db, id))[::-1]
            start = len(path) - size
            if around is not None:
                middle = lookup.number(self.db, around)
                if middle not in path:
                    raise NotFound(f"Message {around!r} is not on the path to {id!r}.")
                start = min(start, path.index(middle) - size // 2)
            start = max(start, 0)
            found = path[start : start + size]
            return PathWindow(tuple(self.load(self.db.rows("nodes", json_list(sorted(found))))), start, len(path))

    def pending_calls(self, id: str) -> list[ToolCall]:
        """The tool calls at the end of a path that have no result yet. Raises `NotFound`."""
        for last in (8, 64, None):  # they are nearly always among the last messages
            path = self.path(id, last)
            calls = pending_calls(path)
            if calls is not None:
                return calls
        return []

    def children(self, id: str, *, as_of: Time | None = None) -> list[Node]:
        """The messages that follow a message, oldest first. Raises `NotFound`.

        As everywhere, `as_of` is a time: only what was there then is found. What was deleted since is not.
        """
        with self.db.reading():
            return list(_before(as_of, self.load(self.db.rows("children", lookup.number(self.db, id)))))

    def forest(self, id: str | None = None, *, as_of: Time | None = None) -> list[Tree[Node]]:
        """All trees, the most recently active last; or the one tree that begins at a message."""
        if id is None:
            return grow(_before(as_of, self.list_messages(ascending=True)))
        with self.db.reading():
            return grow(_before(as_of, self.load(self.db.rows("subtree", lookup.number(self.db, id)))))

    def outline(
        self,
        id: str | None = None,
        *,
        whole: bool = False,
        limit: int | None = None,
        subagents: bool = True,
        as_of: Time | None = None,
    ) -> list[Tree[Headline]]:
        """As `forest`, with the first words of each message only; of the most recently active trees with `limit`.

        With `whole` it is the tree of the message. Without `subagents`, what their runs began is left out.
        Raises `NotFound`, and `Invalid` for a `limit` below 1.
        """
        with self.db.reading():
            past = self._past(as_of)
            lines = outline.headlines(self.db, self._roots(id, whole, limit, subagents, past), below=True)
            trees = grow(lines if past is None else past.headlines(lines))
        return trees[-limit:] if limit else trees

    def segments(
        self,
        id: str | None = None,
        *,
        whole: bool = False,
        limit: int | None = None,
        subagents: bool = True,
        as_of: Time | None = None,
    ) -> list[Tree[Segment]]:
        """As `outline`, with one entry for each run of messages without a fork, and without a head of a session inside.

        However long the dialogs are, only their ends are read. Raises `NotFound`, and `Invalid` for a `limit` below 1.
        """
        with self.db.reading():
            past = self._past(as_of)
            trees = grow(branches.segments(self.db, self._roots(id, whole, limit, subagents, past), past))
        return trees[-limit:] if limit else trees

    def compare(self, a: str, b: str) -> Comparison:
        """The common beginning of the dialogs of two messages, and what each has after that. Raises `NotFound`."""
        with self.db.reading():
            common, beyond = branches.common_length(self.db, lookup.number(self.db, a), lookup.number(self.db, b))
            path = self.path(a)
            return Comparison(tuple(path[:common]), tuple(path[common:]), tuple(self.path(b, beyond)))

    def list_trees(self, *, subagents: bool = True) -> Iterator[Tree[Headline]]:
        """Every tree of `outline`, the most recently active last, a few in memory at a time."""
        with self.db.reading():
            roots = outline.ordered_roots(self.db, subagents)
        return outline.trees(self.db, roots)

    def has_subagent_runs(self) -> bool:
        """Whether there are trees that `subagents=False` leaves out."""
        return self.db.row("any_run") is not None

    def headlines(self, ids: Sequence[str]) -> list[Headline]:
        """The first words of these messages, in this order. Raises `NotFound` naming the ones that are not there."""
        with self.db.reading():
            numbers = lookup.numbers(self.db, ids)
            wanted = sorted(set(numbers.values()))
            found = dict(zip(wanted, outline.headlines(self.db, wanted, below=False), strict=True))
        return [found[numbers[id]] for id in ids]

    def size(self) -> Size:
        """How much is in the store."""
        return outline.size(self.db)

    def fork(self, id: str, key: str | None = None, title: str | None = None) -> Session:
        """A new session at a message. Nothing is copied. Raises `NotFound`, and `Conflict` for a key in use."""
        return Session(self, self.write(lambda now: sessions.fork(self.db, id, key, title, None, now)))

    def label(self, id: str, text: str | None) -> None:
        """Puts a label on a message, or takes it off with None. Raises `NotFound`."""

        def work(now: int) -> None:
            number, label = lookup.number(self.db, id), column(text)
            (before,) = self.db.row("label_of", number) or (None,)
            self.db.run("set_label", label, number)
            changes.add(self.db, "labelled", now, None, number)
            if label != before:
                owner = lookup.session_of(self.db, [number])
                journal.add(self.db, "label", now, session=owner, message=number, before=before, after=label)

        self.write(work)

    def pin(self, id: str) -> None:
        """Pins a message: `clean` takes no session that it would go with. Raises `NotFound`."""
        self.write(lambda now: pins.pin_message(self.db, id, True, now))

    def unpin(self, id: str) -> None:
        """Takes the pin off a message. Raises `NotFound`."""
        self.write(lambda now: pins.pin_message(self.db, id, False, now))

    def pins(self) -> list[Pin]:
        """The pinned messages, the one that was pinned last first."""
        return pins.all_pins(self.db)

    def labels(self, *, subagents: bool = True) -> dict[str, int]:
        """The labels, and the number of messages with each, the most frequent first.

        Without `subagents`, the labels that their runs put on what they add are left out.
        """
        return {codec.uncolumn(label) or "": count for label, count in self.db.rows("labels", int(subagents))}

    def find_id(self, prefix: str) -> str | None:
        """The id that begins like this, or None. Raises `Ambiguous` when several do."""
        with self.db.reading():
            try:
                return lookup.full_id(self.db, prefix)
            except NotFound:
                return None

    def find_ids(self, prefix: str, limit: int = 50) -> list[str]:
        """The newest ids that begin like this, the newest first: what a shell offers to complete."""
        return [id for (id,) in self.db.rows("newest_by_prefix", check_id(prefix), prefix + AFTER_ALL, limit)]

    def verify(
        self, repair: bool = False, progress: Progress | None = None, *, unreachable: bool = False
    ) -> list[Finding]:
        """Everything that is wrong with the store: damaged, missing, dangling. `repair` mends what is safe to mend.

        With `unreachable`, also every message that no session, label, pin or external name reaches; `save_messages`
        leaves such messages on purpose, so that `repair` does not touch them. `progress` gets, from time to
        time, the number of messages checked and that of all.
        """
        from bough.storage.verify import findings

        found = []
        for finding, mend in findings(self.db, self.load, self.clock(), progress, unreachable):
            if repair and mend is not None:
                self._repair(mend)
                finding = Finding(finding.code, finding.subject, finding.detail, True)
            found.append(finding)
        return found

    def unreachable(self) -> list[str]:
        """The ids of the messages that no session, label, pin or external name reaches, parents first."""
        from bough.storage.verify import unreachable_ids

        with self.db.reading():
            return unreachable_ids(self.db)

    def copy_to(self, target: Store, progress: Progress | None = None) -> Copied:
        """Makes another store, of any engine, a copy of this one: everything, with its ids, its trash and its names.

        The target is empty, or an earlier copy: then it gets what is new, and loses what was deleted here. This store
        may be written to during the copy; copying again adds the rest. `progress` gets the number of messages copied,
        and that of all. Raises `Refused`, before anything is written, when the target has a history of
        its own, and `Corrupt` when what arrived is not what was sent.
        """
        from bough.storage.copy import copy

        copied = copy(self.db, target.db, target.clock(), progress)
        target.write(lambda now: changes.add(target.db, "copied", now))
        return copied

    def content(self, id: str, position: int = 0, chunk: int = 65_536) -> Iterator[bytes]:
        """The content of one block, as bytes, a piece at a time: for what is too large to hold in memory."""
        from bough.storage.blobs import content

        return content(self.db, id, position, chunk)

    # Sessions -------------------------------------------------------------------------------------------------------

    def session(
        self,
        key: str,
        *,
        directory: str | None = None,
        title: str | None = None,
        agent: str | None = None,
        model: str | None = None,
        extra: Json = None,
    ) -> Session:
        """The session with this key, found or made. What else is given is written down, whether it is new or not.

        But `directory` is where the caller is: a new session gets it, one that exists keeps its own, and once something
        is said through the returned object, the directory continues this session (see `last_session`).
        """
        parse_key(key)
        given = sessions.Description(None, title, agent, model, extra)
        if not given.is_empty or lookup.session_number(self.db, key) is None:
            given = replace(given, directory=directory)
            self.write(lambda now: sessions.make_or_update(self.db, key, given, now))
        return Session(self, key, directory=directory)

    def last_session(self, directory: str) -> SessionInfo | None:
        """The session that a directory last talked to, wherever that one comes from; None if there is none."""
        row = self.db.row("session_of_directory", column(directory))
        return None if row is None else codec.session_infos([row])[0]

    def find_session(self, key: str, *, as_of: Time | None = None) -> SessionInfo | None:
        """What is known of a session, or None if there is none. With `as_of`, its head and its last use are of then."""
        if as_of is None:
            return sessions.find(self.db, key)
        with self.db.reading():
            return Past(self.db, micros(as_of, "as_of"), key).info(key)

    def sessions(
        self,
        *,
        channel: str | None = None,
        directory: str | None = None,
        parent: str | None = None,
        label: str | None = None,
        delegates: bool = True,
        pinned: bool = False,
        limit: int | None = None,
        before: int | None = None,
        as_of: Time | None = None,
    ) -> list[SessionInfo]:
        """The sessions, the most recently used first. `before` is the `cursor` of the last one already seen.

        A session is used when it is created and when something is said there; nothing else changes the order, and
        imported sessions have the time of their last message. Without `delegates`, those in which a subagent works are
        left out, at any depth. With `label`, only those on whose path a message has this label; with `pinned`, only
        pinned ones. With `as_of`, those that existed then, with the heads and in the order of then; the other
        fields are of now. Raises `NotFound` for an unknown parent, and `Invalid` for a negative `limit`.
        """
        at_least("limit", limit, 0)
        if as_of is not None and before is not None:
            raise Invalid("A list as of a time has no cursors; leave `before` out.")
        lookup.check_session(self.db, parent)
        count = EVERYTHING if limit is None else limit
        with self.db.reading():
            rows = self.db.rows(
                "sessions",
                EVERYTHING if before is None else before,
                channel, column(directory), parent, int(delegates), column(label),
                count if as_of is None else EVERYTHING, int(pinned),
            )  # fmt: skip
            infos = codec.session_infos(rows)
            past = self._past(as_of)
            return infos if past is None else past.infos(infos)[:count]

    def previews(self, sessions: Iterable[SessionInfo]) -> list[SessionPreview]:
        """What a list shows of these sessions: first question, last words, counts, cost, status. In the same order.

        For a page of `sessions()`: the number of statements does not depend on the length of the page, and no message
        is loaded. A session that was deleted since is left out.
        """
        infos = list(sessions)
        with self.db.reading():
            return previews.previews(self.db, infos)

    def sessions_through(self, id: str) -> list[SessionInfo]:
        """The sessions with a message on their path, the most recently used first. Raises `NotFound`."""
        with self.db.reading():
            return sessions.passing(self.db, lookup.number(self.db, id))

    def delete_session(self, key: str, *, keep: bool = True) -> None:
        """Deletes a session, its delegates, and every message that no other session reaches. Raises `NotFound`."""
        self.write(lambda now: sessions.delete(self.db, key, now, keep))

    def turns(
        self, session: str | None = None, *, status: str | None = None, limit: int | None = None
    ) -> list[TurnInfo]:
        """Turns, the newest first. Raises `NotFound` for an unknown session, `Invalid` for an unknown status."""
        one_of("status", status, STATUSES)
        at_least("limit", limit, 0)
        lookup.check_session(self.db, session)
        limit = EVERYTHING if limit is None else limit
        return [codec.turn_info(row) for row in self.db.rows("turns", session, status, EVERYTHING, limit)]

    def list_turns(self, of: Sequence[str] | None = None) -> Iterator[TurnInfo]:
        """Every turn, the newest first, a few in memory at a time; or those that begin at some messages.

        Raises `NotFound` for a message that is not there.
        """
        if of is not None:
            begun = lookup.numbers(self.db, of).values()
            yield from map(codec.turn_info, self.db.rows("turns_begun", json_list(begun)))
            return
        at = EVERYTHING
        while rows := self.db.rows("turns", None, None, at, PAGE):
            yield from map(codec.turn_info, rows)
            first, *_ = rows[-1]
            at = lookup.number(self.db, first)

    def turn_info(self, id: str) -> TurnInfo:
        """The turn whose first message is this. Raises `NotFound`."""
        row = self.db.row("turn", lookup.number(self.db, id))
        if row is None:
            raise NotFound(f"No turn begins at message {id!r}.")
        return codec.turn_info(row)

    def running_replies(self, session: str | None = None) -> list[RunningReply]:
        """What turns of any process have received so far of replies being written; of one session, or of all.

        A writer stores it about once a second.
        """
        with self.db.reading():
            running = [turn for turn in leases.running(self.db) if session is None or turn.key == session]
            return partial_replies.replies(self.db, running)

    def replies(
        self,
        session: str | None = None,
        *,
        turn: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> list[ReplyInfo]:
        """The replies of providers, the newest first: who gave each one, what it cost and when.

        Of one session, or of one turn, which is known by its first message; from `since`, and before `until`. Raises
        `NotFound` for a session or a turn that is not there, and `Invalid`.
        """
        return replies.find(self.db, session, turn, since, until, limit)

    def list_replies(self, of: Sequence[str] | None = None) -> Iterator[ReplyInfo]:
        """Every reply, the newest first, a few in memory at a time; or those that are at some messages.

        Raises `NotFound` for a message that is not there.
        """
        return replies.pages(self.db, of)

    def usage(
        self,
        session: str | None = None,
        *,
        by: Group | Pair | None = None,
        since: Time | None = None,
        until: Time | None = None,
        delegates: bool = True,
    ) -> list[Totals]:
        """Tokens and cost: one total, or one for each model, provider, session, agent, label or day, or pair of them.

        They are sorted by name; None, what is unknown, comes first. The sessions that work for others count, and with a
        session those that work for it, unless `delegates` is False. `since` is the first moment that counts, `until`
        the first that does not. Raises `NotFound` for a session that is not there, and `Invalid` for another group.
        """
        return replies.usage(self.db, session, by, since, until, delegates)

    def find_external(self, kind: str, value: str) -> str | None:
        """The id of the message, or the key of the session, that others call this; or None."""
        named = lookup.external(self.db, kind, value)
        if named is None:
            return None
        if named.session is None:
            return lookup.id_of(self.db, named.message)
        return lookup.session_key(self.db, named.session)

    def name_externally(
        self, kind: str, value: str, *, message: str | None = None, session: str | None = None, move: bool = False
    ) -> None:
        """Keeps what others call a message or a session. A name in use stays as it is, unless `move` gives it to this.

        Raises `NotFound`.
        """

        def work(now: int) -> None:
            number = None if message is None else lookup.number(self.db, message)
            owner = None if session is None else leases.session_state(self.db, session).n
            self.db.run("give_external" if move else "insert_external", kind, column(value), number, owner)
            changes.add(self.db, "named", now, owner, number)

        self.write(work)

    def list_names(self, of: Sequence[str] | None = None) -> Iterator[ExternalName]:
        """What others call the messages and sessions of this store, a few in memory at a time; or only some messages.

        Raises `NotFound` for a message that is not there.
        """
        if of is not None:
            named = lookup.numbers(self.db, of).values()
            yield from self._names(sorted(self.db.rows("external_rows", json_list(named))))
            return
        at = ("", "")
        while rows := self.db.rows("external_page", *at, PAGE):
            yield from self._names(rows)
            at = rows[-1][:2]

    def names(
        self, kind: str, *, after: str | None = None, limit: int | None = None, descending: bool = False
    ) -> list[ExternalName]:
        """What others call messages and sessions in one kind of names, sorted; those after a name with `after`.

        Raises `Invalid` for a negative `limit`.
        """
        at_least("limit", limit, 0)
        end = AFTER_ALL * 4 if descending else ""
        rows = self.db.rows(
            "names_down" if descending else "names_up", kind, end if after is None else column(after),
            EVERYTHING if limit is None else limit,
        )  # fmt: skip
        return list(self._names(rows))

    def forget_name(self, kind: str, value: str) -> None:
        """Forgets what others call a message or a session, which stays. A name that is unknown is not an error."""

        def work(now: int) -> None:
            named = lookup.external(self.db, kind, value)
            if named is not None:
                self.db.run("delete_external", kind, column(value))
                changes.add(self.db, "named", now, named.session, named.message)

        self.write(work)

    def annotate_turn(self, id: str, metadata: dict[str, Json]) -> None:
        """Adds to the metadata of a turn, by its id, whether it has ended or not; None removes a field.

        Raises `NotFound`.
        """
        self.write(lambda now: turns.annotate(self.db, id, metadata, now))

    def record(
        self,
        prefix: str,
        dialog: Iterable[Message | Node],
        *,
        reply: Json = None,
        model: str | None = None,
        provider: str | None = None,
        request_id: str | None = None,
        started_at: int | None = None,
        first_token_at: int | None = None,
        metadata: dict[str, Json] | None = None,
        external_name: tuple[str, str] | None = None,
        wait: float = WAIT,
    ) -> Session:
        """Keeps a dialog whose session is not known: it is `{prefix}:{id of the first message}`, found or made.

        Gives the session. `external_name` is what others call the last message, a kind and a value. Everything else is
        as in `Session.record`. Raises `Invalid` for an empty dialog.
        """
        from bough.storage.record import draft_new, record_below, session_below

        own = ReplyDetails(model, provider, request_id, Usage(), started_at, first_token_at)
        given = recording(self, dialog, reply, own, metadata)
        if not given.entries:
            raise Invalid("An empty dialog has no first message; nothing was recorded.")
        draft_new(self.db, session_below(self.db, prefix, given.digests) or "", given.entries, given.digests)
        return Session(self, self.write(partial(record_below, self.db, prefix, given, external_name), wait))

    def list_documents(self) -> Iterator[Document]:
        """The documents of all sessions, a few in memory at a time."""
        return documents.pages(self.db, DOCUMENTS)

    def _names(self, rows: list[Row]) -> Iterator[ExternalName]:
        found = [ExternalRow(*row) for row in rows]
        ids = lookup.ids_of(self.db, [row.message for row in found if row.message is not None])
        named = json_list(row.session for row in found if row.session is not None)
        keys: dict[int, str] = dict(self.db.rows("session_keys", named))
        for kind, value, message, session in rows:
            yield ExternalName(kind, codec.uncolumn(value) or "", ids.get(message), keys.get(session))

    def bring_in(self, told: Conversation | Archive, *, again: bool = False, dry_run: bool = False) -> ImportResult:
        """Stores a conversation of another program, or an archive. Importing it again adds only what is new in it.

        One that was deleted here stays deleted, unless `again`. With `dry_run` nothing is written. Messages that were
        stored before an error stay, although no session reaches them, and the next import continues from there.
        """
        from bough.ingest.bring_in import bring_in

        return bring_in(self.db, self.before_save, self.write, told, again, dry_run)

    # Search ---------------------------------------------------------------------------------------------------------

    def search(
        self,
        words: str | Query = "",
        *,
        session: str | None = None,
        channel: str | None = None,
        role: str | None = None,
        label: str | None = None,
        model: str | None = None,
        tool: str | None = None,
        directory: str | None = None,
        has: Has | Sequence[Has] | None = None,
        status: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        min_cost: float | None = None,
        max_cost: float | None = None,
        order: Literal["newest", "best"] = "newest",
        limit: int = 20,
        offset: int = 0,
        cursor: str | None = None,
        paths: bool = False,
        syntax: bool = False,
        index: bool = True,
    ) -> Hits:
        """The messages that have all of these words, and that the filters allow; those that were stored last first.

        Signs in the words mean themselves, unless `syntax` asks for a query of FTS5; `parse_query` makes a `Query`,
        whose fields describe the filters, of what a person typed. With filters and no words, all messages that the
        filters allow are listed. If no message has all the words, those with words that begin with them are found, and
        `by_beginning` of the result says so. The next page is at `cursor=hits.next`.

        `session` finds what is on the path of a session and what its turns added, and is then the session of each
        hit. `paths` adds the ids from the root to each hit. What is not indexed yet is indexed first, unless `index` is
        False; `waiting` of the result is the number of messages that were not searched.

        Raises `NotFound` for an unknown session, and `Invalid` for any other filter with a value that it cannot have.
        """
        one_of("order", order, ("newest", "best"))
        at_least("limit", limit, 0)
        at_least("offset", offset, 0)
        filters = {
            "session": session, "channel": channel, "role": role, "label": label, "model": model, "tool": tool,
            "directory": directory, "has": (has,) if isinstance(has, str) else has, "status": status,
            "since": None if since is None else micros(since, "since"),
            "until": None if until is None else micros(until, "until"), "min_cost": min_cost, "max_cost": max_cost,
        }  # fmt: skip
        query = search_query.asked(words, filters, syntax)
        lookup.check_session(self.db, query.session)
        at = search_query.parse_cursor(cursor, order)
        if index and query.needs_index:
            self.index()
        with self.db.reading():
            page = search_query.page(self.db, query, at, limit, offset)
            hits = search.hits(self.db, page.numbers, query.wanted, query.session, paths, self.load)
            waiting = search.waiting(self.db) if query.needs_index else 0
        return Hits(hits, str(page.next) if page.next else None, page.by_beginning, waiting, query.notes)

    def facets(self, words: str | Query = "", *, most: int = 50_000) -> Facets:
        """How often each role, channel, directory, model, tool, label and status is among what a search finds.

        For one with filters, pass a `Query`; without words and filters all messages count. The newest `most` messages
        are counted, and `is_complete` says whether these are all. Raises as `search` does.
        """
        at_least("most", most, 1)
        query = search_query.asked(words, {}, syntax=False)
        lookup.check_session(self.db, query.session)
        if query.needs_index:
            self.index()
        with self.db.reading():
            return facets.facets(self.db, query, most)

    def index_status(self) -> IndexStatus:
        """How far the search index is: what `search(index=False)` searches."""
        with self.db.reading():
            return search.index_status(self.db)

    def index(self, progress: Progress | None = None) -> bool:
        """Brings the search index up to date; says whether it is. A search does this by itself.

        A store that can only be read keeps the index that it has. `progress` gets, from time to time, the number of
        the last message indexed, and that of the newest.
        """
        while not self.db.read_only and search.is_behind(self.db):
            self.write(lambda _: search.index_page(self.db))
            if progress is not None:
                index = search.state(self.db)
                progress(index.indexed, index.newest)
        return not search.is_behind(self.db)

    # Trash and retention --------------------------------------------------------------------------------------------

    def trash(self) -> list[TrashEntry]:
        """What was deleted and can be restored, the newest first."""
        return trash.entries(self.db)

    def find_deleted(self, name: str) -> TrashEntry | None:
        """The newest entry of the trash with a session of this key, or with a message of this id; None without one."""
        entries = self.trash()
        id = next((entry.id for entry in entries if name in entry.sessions), None)
        with suppress(NotFound, Ambiguous):
            id = id or lookup.deleted(self.db, name)
        return next((entry for entry in entries if entry.id == id), None)

    def restore(self, name: str) -> list[str]:
        """Brings back a trash entry, by its id or by a message or session in it, under the same ids.

        Raises `NotFound`, `Ambiguous` for the beginning of several ids, `Refused` when the message before it is still
        in the trash, and `Conflict` when a key is in use.
        """

        def work(now: int) -> list[str]:
            try:
                return trash.restore(self.db, check_id(name), now)
            except NotFound:
                return trash.restore(self.db, lookup.deleted(self.db, name), now)

        return self.write(work)

    def purge(self, older_than: Span = 0) -> int:
        """Removes for good what was deleted longer ago than this (seconds or a timedelta); the number of entries.

        It works in short transactions, as `clean` does. Raises `Invalid` for a negative span.
        """
        from bough.storage.retention import purge

        before = self.clock() - span(older_than, "older_than") + 1
        return purge(self.db, self.write, before)

    def clean(
        self, older_than: Span | None = None, dry_run: bool = True, *, channel: str | None = None
    ) -> list[SessionInfo]:
        """The sessions, of all channels or of one, that have expired, or were not used for this long.

        They go to the trash only if `dry_run` is False, in short transactions: others may write in between, and a run
        that was broken off is continued by the next. A session in a turn is left out, a pinned one, and one that a
        pinned message would go with. `older_than` is in seconds, or a timedelta. Raises `Invalid` for a negative one.
        """
        from bough.storage.retention import clean, idle_sessions

        idle = self._idle(older_than, channel)
        return list(idle_sessions(self.db, idle)) if dry_run else clean(self.db, self.write, idle)

    def idle_sessions(self, older_than: Span | None = None, *, channel: str | None = None) -> Iterator[SessionInfo]:
        """The sessions that `clean` would take, a few in memory at a time. Raises `Invalid` as `clean` does."""
        from bough.storage.retention import idle_sessions

        return idle_sessions(self.db, self._idle(older_than, channel))

    def _idle(self, older_than: Span | None, channel: str | None) -> Idle:
        from bough.storage.retention import Idle

        now = self.clock()
        return Idle(None if older_than is None else now - span(older_than, "older_than"), channel, now)

    def migrate(self, progress: Progress | None = None) -> int:
        """Rewrites rows that an older version stored, in the shape of this one; the number of rows.

        Both shapes can be read, so nothing depends on it but what other programs see in the file. It works in short
        transactions, and a run that was broken off is continued by the next. `progress` gets the number of the last
        message checked, and that of the newest. Raises `Refused` if the store cannot be written.
        """
        from bough.storage.rewrite import rewrite

        return rewrite(self.db, self.write, progress)

    def backup(self, target: StrPath) -> None:
        """Writes a consistent copy to a new file, while others go on writing. Raises `Refused` if the file exists."""
        self.db.backup(target)

    # Undoing --------------------------------------------------------------------------------------------------------

    def undoable(self, limit: int = 20) -> list[Undoable]:
        """What `undo` could take back, the newest first, each with a sentence. Raises `Invalid` for a bad `limit`."""
        at_least("limit", limit, 0)
        with self.db.reading():
            return journal.entries(self.db, None, limit)

    def undo(self, cursor: int | None = None) -> Undoable | None:
        """Takes back the newest move, deletion, title or label, or the one with this number; None if there is none.

        Raises `Refused`, and changes nothing, if something that was done since would be lost, or was purged; `NotFound`
        for a number that is not in `undoable`; and `Busy` while a turn is open there.
        """
        return self.write(lambda now: journal.undo(self.db, None, cursor, now))

    # Changes --------------------------------------------------------------------------------------------------------

    def cursor(self) -> int:
        """The cursor after the newest change; 0 in a store that never changed."""
        return changes.newest(self.db)

    def changes(self, after: int | None = None, limit: int | None = None) -> list[Change]:
        """What was changed after a cursor, by any process, in the order of the commits; all that is kept without one.

        A cursor is valid for as long as the changes after it are kept: the last 50,000 are, at least. Raises
        `CursorExpired` for an older one, and for one of another store.
        """
        return changes.after(self.db, after, limit)

    def watch(self, after: int | None = None, *, timeout: Span | None = None) -> Iterator[Change]:
        """The changes after a cursor, or from now on, as they come, within a tenth of a second, by any process.

        It waits for the next one for ever, or ends when there is none for `timeout` seconds. Raises `CursorExpired` as
        `changes` does, and `Refused` when the store is closed.
        """
        return changes.watch(self.follower(after), changes.seconds(timeout))

    # For the modules of the store -----------------------------------------------------------------------------------

    def _past(self, as_of: Time | None) -> Past | None:
        return None if as_of is None else Past(self.db, micros(as_of, "as_of"))

    def _roots(
        self, id: str | None, whole: bool, limit: int | None, subagents: bool, past: Past | None
    ) -> list[int]:  # fmt: skip
        at_least("limit", limit, 1)
        if id is None:
            return outline.recent_roots(self.db, None if past else limit, subagents)
        number = lookup.number(self.db, id)
        return [outline.root_above(self.db, number) if whole else number]

    def follower(self, after: int | None) -> Follower:
        """What `watch` polls. Raises `CursorExpired`."""
        changes.check(after)
        if after is not None:
            changes.check_kept(self.db, after)
        return Follower(self.db, self.cursor() if after is None else after)

    def _repair(self, mend: Callable[[], None]) -> None:
        def work(now: int) -> None:
            mend()
            changes.add(self.db, "repaired", now)

        self.write(work)

    def write(self, work: Callable[[int], T], wait: float = 0.0) -> T:
        """Does work in one transaction, with one `now` for all of it. While it raises `Busy` it is tried again.

        The hook `after_commit` is called with what was changed.
        """
        if self.after_commit is None:
            return self._write(work, wait)
        observed = Observed(self.db, work)
        result = self._write(observed, wait)
        report(self.after_commit, observed.changes)
        return result

    def _write(self, work: Callable[[int], T], wait: float) -> T:
        pauses = leases.patience(wait)
        while True:
            try:
                return self.db.transact(lambda: work(self.clock()))
            except Busy:
                if (pause := next(pauses, None)) is None:
                    raise
            time.sleep(pause)

    def prepare(self, messages: Iterable[Message], label: str | None = None, *, lazy: bool = False) -> list[Entry]:
        """The way into the store of every message: the hook of the application, then `storage.messages.prepare`."""
        if self.before_save is not None:
            messages = [admit(message, self.before_save) for message in messages]
        return prepare(messages, label, lazy=lazy)

    def load(self, rows: Sequence[Row]) -> list[Node]:
        """The nodes of these rows."""
        nodes = decode.nodes(rows, lambda missing: lookup.ids_of(self.db, missing))
        return decode.read_all(nodes) if self.reads_ahead else nodes

    def load_path(self, statement: str, name: str, last: int | None) -> list[Node]:
        """The load path: one statement, from the root to a message or to the head of a session."""
        at_least("last", last, 0)
        with self.db.reading(), decode.gc_paused():
            rows = self.db.rows(statement, name, EVERYTHING if last is None else last)
            path = self.load(rows)
            path.reverse()
            if last is None and path and not decode.ends_at_root(rows):
                raise Corrupt(f"The path of {path[-1].id!r} does not lead to a root; run verify().")
            del rows  # what nobody needs any more should not be looked at
        return path

    def _pages(self, statement: str, labels: Sequence[str | None], offset: int, limit: int) -> Iterator[Node]:
        # No transaction is open between two pages: a reader that pauses must not keep the WAL from being emptied.
        ascending = statement.endswith("up")
        at = 0 if ascending else EVERYTHING
        while limit > 0:
            with self.db.reading():
                rows = self.db.rows(statement, *labels, at, min(limit, PAGE), offset)
                page = self.load(rows)
            if not page:
                return
            end = (max if ascending else min)(row[decode.N] for row in rows)
            if (end <= at) if ascending else (end >= at):
                raise Corrupt("The list of messages does not go on; the file is damaged. Run verify().")
            at, offset, limit = end, 0, limit - len(page)
            yield from page
