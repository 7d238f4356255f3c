"""What an application holds: a session, and the turn that it is writing.

Both are names, not copies: they know a key and a store, and ask it every time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Literal, TypeVar

from bough import ids, turns
from bough.codec import column, draft, json_text
from bough.errors import Busy, Conflict, Invalid, NotFound, Refused
from bough.model import Json, Message, Node, SessionInfo, Status, Totals, TurnInfo, Usage, user
from bough.owner import new_owner
from bough.saving import Entry, insert, one_after_another

if TYPE_CHECKING:
    from typing import Self

    from bough.store import Store

T = TypeVar("T")

Reply = Message | Sequence[Message]
WAIT = 10.0


class Session:
    """A persistent name for a message. `store.session(key)` gives one."""

    def __init__(self, store: Store, key: str, label: str | None = None, caller: tuple[str, str | None] | None = None) -> None:
        self.store = store
        self.key = key
        self.label = label
        """Put on every node that is added through this object: a subagent's run has one."""
        self._caller = caller

    def __repr__(self) -> str:
        return f"<Session {self.key!r}>"

    @property
    def info(self) -> SessionInfo:
        """What is known of it now. Raises `NotFound` if it was deleted."""
        info = self.store.find_session(self.key)
        if info is None:
            raise NotFound(f"There is no session {self.key!r}; it was deleted.")
        return info

    @property
    def head(self) -> str | None:
        """The id of the message where it stands; None before the first turn."""
        return self.info.head_id

    def path(self, last: int | None = None) -> list[Node]:
        """The dialog so far, oldest first; only its end with `last`."""
        with self.store.db.reading():
            return self.store._dialog(self.store.db.rows("session_path", self.key, -1 if last is None else last), last)

    def update(
        self, *, title: str | None = None, directory: str | None = None, agent: str | None = None,
        model: str | None = None, extra: Json = None,
    ) -> None:  # fmt: skip
        """Writes down what is given; the rest stays."""
        given = (directory, column(title), agent, model, json_text(extra))
        self.store._write(lambda at: self.store.db.run("update_session", *given, at, turns.state(self.store.db, self.key).n))

    # Adding ------------------------------------------------------------------------------------------------------------

    def turn(
        self,
        message: Message | str | None = None,
        *,
        resume: str | None = None,
        idempotency_key: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        instructions: str | None = None,
        keep_instructions: bool = False,
        metadata: dict[str, Json] | None = None,
        wait: float = WAIT,
        lease: float = turns.LEASE,
        busy: Literal["raise", "fork"] = "raise",
    ) -> Turn:
        """Opens a turn: its input is durable, and the session is this writer's, when this returns.

        Use it as a context manager. Without a message the input is an empty one. `resume` takes up a turn that did not
        complete, by its id. A session that is in another turn is waited for; then this raises `Busy`, or forks the
        session if `busy="fork"`. With an idempotency key that was completed before, the turn is `repeated` and adds nothing.
        """
        given = turns.Provenance(model, provider, instructions=instructions, metadata=dict(metadata or {}))
        if instructions is not None and keep_instructions:
            given.metadata["instructions"] = instructions
        opening = self._opening(message, resume, idempotency_key, given, lease)
        try:
            return Turn(self, retry(opening, wait), lease)
        except Busy:
            if busy == "raise":
                raise
        fork = self.fork()
        return Turn(fork, fork._opening(message, resume, idempotency_key, given, lease)(), lease)

    def _opening(
        self, message: Message | str | None, resume: str | None, key: str | None, given: turns.Provenance, lease: float
    ) -> Callable[[], turns.Opened]:
        store, owner = self.store, new_owner()
        if resume is not None:
            return lambda: store._write(
                lambda at: turns.reopen(store.db, self.key, store._number(resume), at, owner, lease)
            )
        first = user(message) if isinstance(message, str) else message or user()
        prepared = draft(first)

        def open_(at: int) -> turns.Opened:
            given.caller, given.caller_call = self._caller_numbers()
            return turns.open_turn(
                store.db, self.key, Entry(first, prepared, label=self.label), at, owner, lease, given, key
            )

        return lambda: store._write(open_)

    def save_turn(
        self,
        messages: Sequence[Message],
        *,
        idempotency_key: str | None = None,
        after: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        usage: Usage | None = None,
        request_id: str | None = None,
        instructions: str | None = None,
        metadata: dict[str, Json] | None = None,
        wait: float = WAIT,
    ) -> list[str]:
        """Appends a complete turn in one transaction; the ids of its messages.

        With `after`, only if the session still stands at that message: otherwise `Conflict`. Raises `Busy` when another
        turn stays open for longer than `wait`, and `Invalid` for a turn that ends with the user's words.
        """
        entries = one_after_another(messages, self.label)
        given = turns.Provenance(model, provider, request_id, usage or Usage(), instructions, metadata=metadata or {})

        def save(at: int) -> list[str]:
            given.caller, given.caller_call = self._caller_numbers()
            expected = None if after is None else self.store._number(after)
            return turns.save_turn(self.store.db, self.key, entries, at, given, idempotency_key, expected)

        return retry(lambda: self.store._write(save), wait)

    def record(self, dialog: Iterable[Message | Node], *, model: str | None = None, wait: float = WAIT) -> list[str]:
        """Keeps a dialog that the application holds as a whole: stores what is new, and stands at its end.

        Where the dialog departs from what is stored it becomes a branch. The user's words without a reply are kept, and
        the session moves past them when the reply is recorded. Gives the ids of the messages that were new.
        """
        messages = [item.message if isinstance(item, Node) else item for item in dialog]
        entries = one_after_another(messages, self.label)
        given = turns.Provenance(model)
        return retry(
            lambda: self.store._write(lambda at: turns.record(self.store.db, self.key, messages, entries, at, given)), wait
        )

    def compact(self, summarize: Callable[[list[Node]], Message | str], keep_turns: int = 5) -> str | None:
        """Adds a summary of everything but the newest turns; its id, or None when there is nothing to summarise.

        `summarize` is given the nodes (a former summary first) and returns the summary. The original stays: the path
        still has it, a search finds it, a fork may begin before the summary. Raises `Conflict`, and adds nothing, when
        the session moved while the summary was being written.
        """
        if keep_turns < 1:
            raise Invalid("The newest turn is never summarised: keep_turns is at least 1.")
        before = self.head
        old = old_part(self.path(), keep_turns)
        if before is None or not old:
            return None
        summary = summarize(old)
        entry = turns.summary_entry(user(summary) if isinstance(summary, str) else summary, 0)

        def add(at: int) -> str:
            session = turns.free(self.store.db, self.key, at)
            if session.head != self.store._number(before):
                raise Conflict(f"Session {self.key!r} moved on while it was being summarised; nothing was added.")
            entry.parent, entry.covers, entry.label = session.head, self.store._number(old[-1].id), self.label
            (saved,) = insert(self.store.db, [entry], at)
            self.store.db.run("move_head", saved.n, at, session.n)
            return saved.id

        return self.store._write(add)

    # Moving ------------------------------------------------------------------------------------------------------------

    def fork(self, at: str | None = None, key: str | None = None, title: str | None = None) -> Session:
        """A new session that stands at a message, or where this one stands. Raises `NotFound`, and `Conflict` for a key in use."""
        place = at or self.head
        if place is None:
            raise Refused(f"Session {self.key!r} is empty; there is nothing to fork.")
        return self.store._fork(place, key, title, self.key)

    def rewind(self, to: str | None = None, *, turns: int = 1) -> str | None:
        """Moves back to a message on the path, or by whole turns; where it stands now. Nothing is deleted."""
        return self._move(lambda: self._place_to_rewind_to(to, turns))

    def clear(self) -> None:
        """Empties the session: what no other session reaches goes to the trash."""
        self.store._write(lambda at: self._clear(at))

    def new(self, title: str | None = None) -> Session | None:
        """Starts afresh under the same key. What was there stays, as a session of its own, which is returned."""
        if self.head is None:
            return None
        archived = self.fork(title=title)
        self._move(lambda: None)
        return archived

    def delegate(self, agent: str, run_id: str | None = None, *, message: str | None = None, call_id: str | None = None) -> Session:
        """The session in which a subagent works for this one: `{key}:delegate:{agent}`.

        What is added through it is labelled `subagent:{agent}:{run_id}` and linked to the message (by default this
        session's head) and the tool call that started it.
        """
        key = ids.delegate_key(self.key, agent)
        self.store.session(key)
        caller = message or self.head

        def link(at: int) -> None:
            number = None if caller is None else self.store._number(caller)
            parent, child = (turns.state(self.store.db, name).n for name in (self.key, key))
            self.store.db.run("link_session", parent, number, child)

        self.store._write(link)
        label = ids.subagent_label(agent, run_id or ids.mint(8))
        return Session(self.store, key, label, None if caller is None else (caller, call_id))

    # Looking -----------------------------------------------------------------------------------------------------------

    def turns(self, status: Status | None = None, limit: int | None = None) -> list[TurnInfo]:
        """Its turns, the newest first, the unfinished ones included."""
        return self.store.turns(self.key, status=status, limit=limit)

    def usage(self) -> Totals:
        """What its turns have cost."""
        return self.store.usage(self.key)[0]

    # Inside ------------------------------------------------------------------------------------------------------------

    def _move(self, place: Callable[[], int | None]) -> str | None:
        def move(at: int) -> None:
            session = turns.free(self.store.db, self.key, at)
            self.store.db.run("move_head", place(), at, session.n)

        self.store._write(move)
        return self.head

    def _place_to_rewind_to(self, to: str | None, count: int) -> int | None:
        head = turns.state(self.store.db, self.key).head
        if to is not None:
            number = self.store._number(to)
            if head is None or number not in {n for (n,) in self.store.db.rows("ancestors", head)}:
                raise Refused(f"Message {to!r} is not on the path of session {self.key!r}; fork at it instead.")
            return number
        starts = turn_starts(self.path())
        if count < 1 or count > len(starts):
            raise Invalid(f"Session {self.key!r} has {len(starts)} turns; it cannot go back by {count}.")
        parent = starts[-count].parent_id
        return None if parent is None else self.store._number(parent)

    def _clear(self, at: int) -> None:
        from bough import trash

        session = turns.free(self.store.db, self.key, at)
        doomed = trash.deletable(self.store.db, session.n, session.head)
        trash.delete(self.store.db, doomed, at, f"clear {self.key}", keep=True)
        if turns.state(self.store.db, self.key).head is not None:
            self.store.db.run("move_head", None, at, session.n)

    def _caller_numbers(self) -> tuple[int | None, str | None]:
        if self._caller is None:
            return None, None
        return self.store._number(self._caller[0]), self._caller[1]


class Turn:
    """A turn that is being written. Leaving the `with` block completes it; an exception leaves it as a side branch."""

    def __init__(self, session: Session, opened: turns.Opened, lease: float) -> None:
        self.session = session
        self._opened = opened
        self._lease = lease
        self.status: Status = "complete" if opened.repeated else "running"

    def __repr__(self) -> str:
        return f"<Turn {self.id!r} of {self.session.key!r}, {self.status}>"

    @property
    def id(self) -> str:
        """The id of its first message; the turn can be resumed by it."""
        return self._opened.id

    @property
    def repeated(self) -> bool:
        """Whether it was completed before, under the same idempotency key; then it adds nothing."""
        return self._opened.repeated

    @property
    def info(self) -> TurnInfo:
        return self.session.store.turn(self.id)

    def path(self) -> list[Node]:
        """The dialog so far, with what this turn has added."""
        store = self.session.store
        with store.db.reading():
            (name,) = store.db.row("ids", f"[{self._opened.last}]")[1:]  # type: ignore[index]
            return store.path(name)

    def add(
        self,
        reply: Reply,
        *,
        raw: Json = None,
        model: str | None = None,
        provider: str | None = None,
        usage: Usage | None = None,
        request_id: str | None = None,
        first_token_at: int | None = None,
        metadata: dict[str, Json] | None = None,
    ) -> list[str]:
        """Adds what the run has produced; it is durable when this returns. Tokens and cost add up over a turn.

        `raw` is the provider's whole reply, kept verbatim with the first message. Raises `Conflict` when the turn was
        silent for longer than its lease and another writer took the session.
        """
        store = self.session.store
        if self.repeated:
            with store.db.reading():
                return turns.turn_ids(store.db, self._opened.n)
        if self.status != "running":
            raise Refused(f"Turn {self.id!r} is {self.status}; open another one.")
        messages = [reply] if isinstance(reply, Message) else list(reply)
        if raw is not None and messages:
            messages[0] = replace(messages[0], envelope=raw)
        entries = one_after_another(messages, self.session.label)
        p = self._opened.provenance
        p.model, p.provider = model or p.model, provider or p.provider
        p.request_id, p.first_token_at = request_id or p.request_id, p.first_token_at or first_token_at
        p.usage, p.metadata = p.usage + (usage or Usage()), p.metadata | (metadata or {})
        saved = store._write(lambda at: turns.extend(store.db, self._opened, entries, at, self._lease))
        return [one.id for one in saved]

    def delegate(self, agent: str, run_id: str | None = None, *, call_id: str | None = None) -> Session:
        """A subagent's session, linked to the newest message of this turn."""
        return self.session.delegate(agent, run_id, message=self.path()[-1].id, call_id=call_id)

    def complete(self) -> None:
        """Makes the turn part of the session. Raises `Conflict` when the session was moved, or taken over, meanwhile."""
        if self._end("complete", None) == "interrupted" and self.info.error != NO_REPLY:
            raise Conflict(
                f"Session {self.session.key!r} moved on while turn {self.id!r} was being written. "
                "The turn is kept as a side branch; fork from it to go on."
            )

    def interrupt(self, why: str | None = None) -> None:
        """Puts the turn aside: it can be resumed by its id."""
        self._end("interrupted", why)

    def fail(self, why: str) -> None:
        """Marks the turn as failed: kept, never part of the session's dialog."""
        self._end("failed", why)

    def _end(self, status: Status, why: str | None) -> Status:
        if self.status == "running":
            store = self.session.store
            self.status = store._write(lambda at: turns.finish(store.db, self._opened, status, why, at))
        return self.status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self.complete()
        elif isinstance(error, Exception):
            self.fail(f"{type(error).__name__}: {error}")
        else:  # Ctrl+C, a cancelled task, the end of the program
            self.interrupt(type(error).__name__)


NO_REPLY = turns.NO_REPLY


def retry(work: Callable[[], T], wait: float) -> T:
    """Does the work, again and again while the session is busy, for as long as the caller is willing to wait."""
    for pause in turns.patience(wait):
        try:
            return work()
        except Busy:
            time.sleep(pause)
    return work()


def turn_starts(path: Sequence[Node]) -> list[Node]:
    """The first node of every turn on a path. Outside turns, each message of the user begins one."""
    starts = []
    for before, node in zip([None, *path], path, strict=False):
        if node.turn_id is None:
            begins = node.role == "user" and node.kind == "message"
        else:
            begins = node.turn_id == node.id
        if begins or before is None:
            starts.append(node)
    return starts


def old_part(path: list[Node], keep_turns: int) -> list[Node]:
    """What a summary of this path has to speak for: its last summary and what followed, less the newest turns."""
    latest = max((place for place, node in enumerate(path) if node.kind == "summary"), default=None)
    covered = path[latest].covers if latest is not None else None
    first = next((place + 1 for place, node in enumerate(path) if node.id == covered), 0)
    rest = [node for node in path[first:] if node.kind == "message"]
    starts = turn_starts(rest)
    if len(starts) <= keep_turns:
        return []
    end = rest.index(starts[-keep_turns])
    return ([path[latest]] if latest is not None else []) + rest[:end]
