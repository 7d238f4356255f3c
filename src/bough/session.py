"""Sessions: a key in a store. Every call reads the store; nothing is cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from bough.answers import Answers
from bough.codec.digest import chain
from bough.errors import Busy, Conflict, Invalid, NotFound, Refused
from bough.model import (
    Document,
    Json,
    Message,
    Node,
    ReplyInfo,
    SessionInfo,
    Status,
    ToolCall,
    Totals,
    TurnInfo,
    Undoable,
    UndoVerb,
    Usage,
    ids,
    keys,
    user,
)
from bough.model.arguments import at_least
from bough.model.branches import Branch
from bough.model.times import micros, span
from bough.model.turns import SaveTurn
from bough.model.usage import NOTHING
from bough.model.values import UNSET, Unset, replace, value
from bough.storage import answers, append, branches, changes, documents, journal, leases, lookup, pins, sessions, turns
from bough.storage.documents import Content, Contents
from bough.storage.documents import put as put_documents
from bough.storage.leases import LEASE, new_owner, register, unregister
from bough.storage.messages import insert
from bough.storage.past import Past
from bough.storage.replies import ReplyDetails, attribute
from bough.storage.replies import add as add_reply
from bough.storage.turns import TurnDetails, WholeTurn
from bough.turn import Turn, check_keep_turns, read, read_turn, summary_details, summary_entry

if TYPE_CHECKING:
    from bough.context.compaction import Summarize
    from bough.context.fit import Context
    from bough.model.times import Span, Time
    from bough.model.traces import Trace
    from bough.storage.record import Recording
    from bough.storage.replies import Group, Pair
    from bough.store import Store

WAIT = 10.0


class Session:
    """A persistent name for a message. `store.session(key)` gives one."""

    def __init__(
        self, store: Store, key: str, label: str | None = None, caller: tuple[str, str | None] | None = None,
        directory: str | None = None,
    ) -> None:  # fmt: skip
        self.store = store
        self.key = key
        self.label = label
        """Put on every node that is added through this object: a subagent's run has one."""
        self._caller = caller
        self._directory = directory

    def __repr__(self) -> str:
        return f"<Session {self.key!r}>"

    # Looking --------------------------------------------------------------------------------------------------------

    @property
    def info(self) -> SessionInfo:
        """Its stored state. Raises `NotFound` if it was deleted."""
        info = self.store.find_session(self.key)
        if info is None:
            raise NotFound(f"There is no session {self.key!r}; it was deleted.")
        return info

    @property
    def head(self) -> str | None:
        """The id of the message at its head; None before the first turn."""
        return self.info.head_id

    def path(self, last: int | None = None, *, as_of: Time | None = None) -> list[Node]:
        """The dialog so far, oldest first; only its end with `last`. With `as_of`, the dialog of then."""
        if as_of is None:
            return self.store.load_path("session_path", self.key, last)
        info = self.store.find_session(self.key, as_of=as_of)
        return [] if info is None or info.head_id is None else self.store.path(info.head_id, last)

    def context(
        self,
        format: str,
        budget: int | None = None,
        *,
        model: str | None = None,
        dialect: str | None = None,
        reserve: int | None = None,
        counter: Callable[[Message], int] | None = None,
        strict: bool = False,
        summarize: Summarize | None = None,
    ) -> Context:
        """The dialog as a valid request of a provider, fitted to a budget of tokens, or to the window of a model.

        A tenth of the budget is kept free, or `reserve` tokens. The newest turn is never dropped; `fits` says when even
        it is too large. With `summarize`, the session is compacted first when older turns would be left out.
        `dialect` is the server that will read it, one of `bough.formats.servers`, if that is not the family's own: what
        this one would refuse is mended. Raises
        `Invalid` for a budget below one, `FormatError` if `strict` and something cannot be said in this format, and
        what `compact` raises.
        """
        from bough.context.load import context_at

        size: dict[str, Any] = {"model": model, "reserve": reserve, "counter": counter}

        def now() -> Context:
            head = leases.session_state(self.store.db, self.key).head
            return context_at(self.store, head, format, budget, strict=strict, dialect=dialect, **size)

        made = now()
        if not made.cut or summarize is None or self.compact(summarize, budget=budget, **size) is None:
            return made
        return now()

    def branches(self, *, as_of: Time | None = None) -> list[Branch]:
        """The ends of the trees that it is in, or has added to, the newest first: what `move` can go to.

        One that is not the dialog's end says where it leaves the dialog. Raises `NotFound` if it was deleted.
        """
        db = self.store.db
        with db.reading():
            past = None if as_of is None else Past(db, micros(as_of, "as_of"))
            return branches.branches(db, self.key, past)

    def pending_calls(self) -> list[ToolCall]:
        """The tool calls at the end of the dialog that have no result yet."""
        head = self.head
        return [] if head is None else self.store.pending_calls(head)

    def trace(self) -> Trace:
        """Its turns, with those of the sessions that work for it, as a tree. Raises `NotFound` if it was deleted."""
        from bough.storage.traces import trace

        with self.store.db.reading():
            return trace(self.store.db, self.key)

    def turns(self, status: Status | None = None, limit: int | None = None) -> list[TurnInfo]:
        """Its turns, the newest first, the unfinished ones included."""
        return self.store.turns(self.key, status=status, limit=limit)

    @property
    def unfinished(self) -> list[TurnInfo]:
        """The turns that can be resumed at its head, the newest first: interrupted and failed ones.

        One whose writer died is among them, whether or not it was marked as interrupted already.
        """
        store = self.store
        with store.db.reading():
            return turns.unfinished(store.db, self.key, store.clock())

    def replies(
        self, *, since: Time | None = None, until: Time | None = None, limit: int | None = None
    ) -> list[ReplyInfo]:
        """The replies of providers in its turns, the newest first; as `Store.replies`."""
        return self.store.replies(self.key, since=since, until=until, limit=limit)

    @overload
    def usage(
        self, *, by: None = None, since: Time | None = None, until: Time | None = None, delegates: bool = True
    ) -> Totals: ...

    @overload
    def usage(
        self, *, by: Group | Pair, since: Time | None = None, until: Time | None = None, delegates: bool = True
    ) -> list[Totals]: ...

    def usage(
        self,
        *,
        by: Group | Pair | None = None,
        since: Time | None = None,
        until: Time | None = None,
        delegates: bool = True,
    ) -> Totals | list[Totals]:
        """Its tokens and cost, with those of the sessions that work for it: one total, or a list; as `Store.usage`."""
        found = self.store.usage(self.key, by=by, since=since, until=until, delegates=delegates)
        return found[0] if by is None else found

    def update(
        self, *, title: str | None = None, directory: str | None = None, agent: str | None = None,
        model: str | None = None, extra: Json | Unset = UNSET,
    ) -> None:  # fmt: skip
        """Changes the fields that are given; `extra=None` clears it. Raises `NotFound` for a deleted session."""
        given = sessions.Description(directory, title, agent, model)
        self.store.write(lambda now: sessions.update(self.store.db, self.key, given, extra, now))

    def pin(self) -> None:
        """Pins this session: `clean` does not take it, used or not, expired or not. Raises `NotFound`."""
        self.store.write(lambda now: pins.pin_session(self.store.db, self.key, True, now))

    def unpin(self) -> None:
        """Takes the pin off. Raises `NotFound`."""
        self.store.write(lambda now: pins.pin_session(self.store.db, self.key, False, now))

    def expire(self, at: Time | None = None, *, after: Span | None = None) -> None:
        """Lets `clean` take this session from a time on, or a while (seconds or a timedelta) after its last use.

        Without either, it never expires. Raises `Invalid` for both, and `NotFound` for a deleted session.
        """
        if at is not None and after is not None:
            raise Invalid("A session expires at a time, or a while after its last use, not both; nothing was changed.")
        time, length = None if at is None else micros(at, "at"), None if after is None else span(after, "after")
        self.store.write(lambda now: sessions.expire(self.store.db, self.key, time, length, now))

    # Adding ---------------------------------------------------------------------------------------------------------

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
        spent: Usage | None = None,
        after: str | Unset | None = UNSET,
        external_name: tuple[str, str] | None = None,
        wait: float = WAIT,
        lease: float = LEASE,
        busy: Literal["raise", "fork"] = "raise",
    ) -> Turn:
        """Opens a turn: its input is durable, and the session is this writer's, when this returns.

        Use it in a `with` block. Without a message the input is an empty one. `resume` takes up a turn that did not
        complete, by its id. A session that is in another turn is waited for; then this raises `Busy`, or forks the
        session if `busy="fork"`. With an idempotency key that was completed before, the turn is `repeated` and adds
        nothing; with other words, this raises `Conflict`. A digest of the instructions is kept, and their text if
        `keep_instructions`. `spent` is what the turn has cost before it began. With `after`, a new turn opens only if
        the head is still that message, or None for an empty session: otherwise `Conflict`. `external_name` is what
        others call a new turn, a kind and a value; `Store.find_external` finds its first message by it.
        """
        details = self._details(model, provider, instructions, keep_instructions, metadata, spent)
        first = user(message) if isinstance(message, str) else message or user()
        number = None if resume is None else lookup.number(self.store.db, resume)
        place = self._number(after)
        opening = Opening(first, details, idempotency_key, number, lease, place, external_name)
        try:
            return opening.open(self, wait)
        except Busy:
            if busy == "raise":
                raise
        return replace(opening, after=UNSET).open(self.fork(), wait=0)

    def answer(
        self,
        at: str | None = None,
        *,
        idempotency_key: str | None = None,
        model: str | None = None,
        provider: str | None = None,
        instructions: str | None = None,
        keep_instructions: bool = False,
        metadata: dict[str, Json] | None = None,
        spent: Usage | None = None,
        wait: float = WAIT,
        lease: float = LEASE,
    ) -> Turn:
        """Opens a turn that answers a question again: that of the message `at`, or the last one of the dialog.

        The turn adds only replies and tool results, below the question, and is known by its first reply. Ended, it is
        the dialog in place of the former answer, which stays as a branch. What ends otherwise is resumed as any turn
        is. Raises `Refused` where there is no question, and what `turn` raises.
        """
        details = self._details(model, provider, instructions, keep_instructions, metadata, spent)
        opening = AnswersOpening((details,), at, None, idempotency_key, lease)
        (turn,) = opening.open(self, wait)
        return turn

    def answers(
        self,
        models: Sequence[str | None],
        at: str | None = None,
        *,
        message: Message | str | None = None,
        providers: Sequence[str | None] | None = None,
        idempotency_key: str | None = None,
        instructions: str | Sequence[str | None] | None = None,
        keep_instructions: bool = False,
        metadata: dict[str, Json] | None = None,
        wait: float = WAIT,
        lease: float = LEASE,
    ) -> Answers:
        """Opens a turn for each model that answers one question: an existing one, as in `answer`, or a new message.

        They are written at the same time, by threads or one after the other, under one lease. When the `with` block is
        left, the head goes to the answer that was given to `Answers.choose`, else to the first whole one, in the order
        of the models. `instructions` are those of all, or a list. An idempotency key is for a new message. Raises what
        `answer` raises, and `Invalid`.
        """
        providers = [None] * len(models) if providers is None else providers
        texts = [instructions] * len(models) if instructions is None or isinstance(instructions, str) else instructions
        if not models or not len(models) == len(providers) == len(texts) or (message is not None and at is not None):
            raise Invalid(
                "Give at least one model, as many providers and instructions if any, and either a message or `at`."
            )
        if idempotency_key is not None and message is None:
            raise Invalid("An idempotency key of several answers needs a new message; nothing was opened.")
        each = tuple(
            self._details(model, provider, text, keep_instructions, metadata)
            for model, provider, text in zip(models, providers, texts, strict=True)
        )
        question = user(message) if isinstance(message, str) else message
        return AnswersOpening(each, at, question, idempotency_key, lease, alone=False).open(self, wait)

    def save_turn(
        self,
        messages: Sequence[Message | Json],
        *,
        idempotency_key: str | None = None,
        after: str | Unset | None = UNSET,
        model: str | None = None,
        provider: str | None = None,
        usage: Usage | Sequence[Usage | None] | None = None,
        request_id: str | None = None,
        instructions: str | None = None,
        metadata: dict[str, Json] | None = None,
        wait: float = WAIT,
    ) -> list[str]:
        """Appends a complete turn in one transaction; the ids of its messages.

        A provider's reply among the messages is stored whole, as by `Turn.add`; a text at the beginning is the user's,
        any other is a reply. `usage` is that of the turn, or a list with one for each reply. With `after`, only if the
        head is still that message, or None for an empty session: otherwise `Conflict`. Raises `Busy` when another turn
        stays open for longer than `wait`, `FormatError` for a reply that no format knows, and `Invalid` for a turn that
        ends with the user's words or another number of usages than of replies. With an idempotency key that was saved
        before it adds nothing, or raises `Conflict` when the messages differ.
        """
        saved = SaveTurn(messages, idempotency_key, model, provider, usage, request_id, instructions, metadata)
        turn = self._whole(saved)
        save = partial(turns.save_turn, self.store.db, self.key, turn, self._number(after))
        return self.store.write(save, wait)

    def save_turns(
        self,
        turns: Iterable[SaveTurn | Sequence[Message | Json]],
        *,
        after: str | Unset | None = UNSET,
        wait: float = WAIT,
    ) -> list[list[str]]:
        """Appends many complete turns in one transaction, all or none; the ids of the messages of each.

        A turn is a list of messages, or a `SaveTurn` with more about them. Everything else is as in `save_turn`.
        """
        whole = [self._whole(turn if isinstance(turn, SaveTurn) else SaveTurn(turn)) for turn in turns]
        if not whole:
            return []
        return self.store.write(partial(append.save_turns, self.store.db, self.key, whole, self._number(after)), wait)

    def append(
        self,
        messages: Sequence[Message | Json],
        *,
        idempotency_key: str | None = None,
        after: str | Unset | None = UNSET,
        model: str | None = None,
        provider: str | None = None,
        usage: Usage | Sequence[Usage | None] | None = None,
        request_id: str | None = None,
        metadata: dict[str, Json] | None = None,
        at: str | Unset | None = UNSET,
        documents: Mapping[str, Json | bytes] | Callable[[list[str]], Mapping[str, Json | bytes]] | None = None,
        revisions: Mapping[str, int] | None = None,
        external: Sequence[tuple[str, str] | None] = (),
        wait: float = WAIT,
    ) -> list[str]:
        """Adds messages to the end of the dialog in one transaction, whatever they end with; their ids.

        This is for a dialog that another program leads, which gives its messages as they come: the user's words alone,
        a call, its result. The user's words begin a turn, and what follows continues it, in this call or in later ones;
        such a turn is complete, whatever it ends with. With an idempotency key the messages are one turn of their own.
        With `at` they follow that message, or None for the beginning, instead of the head, which stays as a branch.
        `documents`, or what a function makes of the new ids, are written in the same transaction, if they are at
        `revisions`, as in `put_documents`. `external` has what others call each message, kind and value, as in
        `Store.name_externally`. The other parameters and the errors are those of `save_turn`.
        """
        if not messages:
            return []
        saved = SaveTurn(messages, idempotency_key, model, provider, usage, request_id, None, metadata)
        whole, expected, place = self._whole(saved), self._number(after), self._number(at)

        def add(now: int) -> list[str]:
            ids = append.append(self.store.db, self.key, whole, expected, place, now)
            if documents is not None:
                values = documents(ids) if callable(documents) else documents
                put_documents(self.store.db, self.key, self._contents(values), revisions or {}, now)
            if external:
                lookup.name_messages(self.store.db, ids, external)
            return ids

        return self.store.write(add, wait)

    def record(
        self,
        dialog: Iterable[Message | Node],
        *,
        reply: Json = None,
        model: str | None = None,
        provider: str | None = None,
        request_id: str | None = None,
        started_at: int | None = None,
        first_token_at: int | None = None,
        metadata: dict[str, Json] | None = None,
        wait: float = WAIT,
    ) -> list[str]:
        """Keeps a dialog that the application holds as a whole: stores what is new, and moves the head to its end.

        Where the dialog departs from what is stored it becomes a branch. The user's words without a reply are kept, and
        the session moves past them when the reply is recorded. Gives the ids of the messages that were new. `reply` is
        a provider's reply that ends the dialog, stored whole as by `Turn.add`; `request_id`, the times and `metadata`
        are of it and its turn. Raises `FormatError` for a reply that no format knows, and `Busy`.
        """
        from bough.storage.record import draft_new, record

        own = ReplyDetails(model, provider, request_id, Usage(), started_at, first_token_at)
        given = recording(self.store, dialog, reply, own, metadata, self.label, self._directory)
        draft_new(self.store.db, self.key, given.entries, given.digests)
        return self.store.write(partial(record, self.store.db, self.key, given), wait)

    def compact(
        self,
        summarize: Summarize,
        keep_turns: int | None = None,
        *,
        budget: int | None = None,
        model: str | None = None,
        reserve: int | None = None,
        counter: Callable[[Message], int] | None = None,
        usage: Callable[[], Usage] | None = None,
    ) -> str | None:
        """Adds a summary of everything but the newest turns; its id, or None when there is nothing to summarise.

        The newest turns that stay fill, with the summary, at most half of the budget, or of the window of a model, or
        of the dialog as it is; the newest one stays in any case, and no more than `keep_turns`. Without a budget,
        `keep_turns` alone decides. A tenth of the budget is kept free, or `reserve` tokens.

        `summarize` is given the nodes (a former summary first) and returns the summary; if it has an attribute
        `window`, at most that many tokens at a time, the summary so far first. The original stays: the path still has
        it, a search finds it, a fork may begin before the summary. `usage` is called when the summary is written: what
        that has cost is kept with it, as that of the attributes `model` and `provider` of `summarize`. Raises `Invalid`
        for a number below one, and `Conflict`, and adds nothing, when the session moved while the summary was being
        written.
        """
        from bough.context.load import compact_at

        check_keep_turns(keep_turns)
        head = leases.session_state(self.store.db, self.key).head
        size: dict[str, Any] = {"model": model, "reserve": reserve, "counter": counter}
        made = compact_at(self.store, head, summarize, budget, keep_turns=keep_turns, **size)
        if made is None:
            return None
        entry = summary_entry(self.store, made, self.label)
        reply = summary_details(summarize, usage)

        def add(now: int) -> str:
            db = self.store.db
            session = leases.unleased(db, self.key, now)
            if session.head != head:
                raise Conflict(f"Session {self.key!r} moved on while it was being summarised; nothing was added.")
            entry.parent = head
            saved = insert(db, [entry], now)
            add_reply(db, saved.last, None, session.n, reply, now)
            turns.move_head(db, session.n, saved.last)
            changes.add(db, "compacted", now, session.n, saved.last)
            journal.add(db, "compact", now, session=session.n, before=head, after=saved.last)
            return saved.ids[0]

        return self.store.write(add)

    # Moving ---------------------------------------------------------------------------------------------------------

    def fork(self, at: str | None = None, key: str | None = None, title: str | None = None) -> Session:
        """A new session with its head at a message, or at the head of this one. Nothing is copied.

        Raises `NotFound`, `Refused` when this session is empty, and `Conflict` for a key in use.
        """
        place = at or self.head
        if place is None:
            raise Refused(f"Session {self.key!r} is empty; there is nothing to fork.")
        key = self.store.write(lambda now: sessions.fork(self.store.db, place, key, title, self.key, now))
        return Session(self.store, key, directory=self._directory)

    def move(self, to: str | None) -> str | None:
        """Moves the head to any message of any tree, or before the first one (None); the id of the new head.

        The dialog that it leaves stays, as a branch: `branches` lists it, and `move` returns to it. Raises `NotFound`,
        and `Busy` while a turn is open.
        """
        return self._move("move", lambda _: None if to is None else lookup.number(self.store.db, to))

    def rewind(self, to: str | Unset | None = UNSET, *, turns: int = 1) -> str | None:
        """Moves the head back by whole turns, or to a message on the path, or before the first one (`to=None`).

        Gives the id of the new head. Nothing is deleted. Raises `Refused` for a message that is not on the path,
        `Invalid` for more turns than there are, and `Busy` while a turn is open.
        """
        if isinstance(to, Unset):
            return self._move("rewind", lambda head: self._turns_ago(head, turns))
        return self._move("rewind", lambda head: None if to is None else self._on_the_path(head, to))

    def pop(self) -> Node | None:
        """Takes the last message off the dialog: the head moves to its parent. The message; None if there is none.

        The message stays, as a branch. Raises `Busy` while a turn is open.
        """

        def work(now: int) -> str | None:
            session = leases.unleased(self.store.db, self.key, now)
            header = lookup.header(self.store.db, session.head)
            if header is None:
                return None
            self._stand(session, header.parent, "pop", now)
            return lookup.id_of(self.store.db, header.n)

        id = self.store.write(work)
        return None if id is None else self.store.get_messages([id])[0]

    def clear(self) -> None:
        """Empties the session: what no other session reaches goes to the trash."""
        self.store.write(lambda now: sessions.clear(self.store.db, self.key, now))

    def new(self, title: str | None = None) -> Session | None:
        """Starts afresh under the same key. What was there stays, as a session of its own, which is returned."""
        archived = self.store.write(lambda now: sessions.new(self.store.db, self.key, title, now))
        return None if archived is None else Session(self.store, archived)

    def delegate(
        self,
        agent: str,
        run_id: str | None = None,
        *,
        message: str | None = None,
        call_id: str | None = None,
        own: bool = False,
    ) -> Session:
        """The session in which a subagent works for this one: `{key}:delegate:{agent}`.

        What is added through it is labelled `subagent:{agent}:{run_id}` and linked to the message (by default this
        session's head) and the tool call that started it. With `own` the run has a session of its own, called
        `{key}:delegate:{agent}:{run_id}`, so that several runs of one agent may be at work at the same time.
        """
        run_id, caller = run_id or ids.mint(8), message or self.head
        key = keys.delegate_key(self.key, f"{agent}:{run_id}" if own else agent)
        self.store.write(lambda now: sessions.delegate(self.store.db, self.key, key, agent, caller, now))
        label = keys.subagent_label(agent, run_id)
        return Session(self.store, key, label, None if caller is None else (caller, call_id))

    def undoable(self, limit: int = 20) -> list[Undoable]:
        """What `undo` could take back of this session, the newest first; as `Store.undoable`."""
        at_least("limit", limit, 0)
        db = self.store.db
        with db.reading():
            return journal.entries(db, leases.session_state(db, self.key).n, limit)

    def undo(self, cursor: int | None = None) -> Undoable | None:
        """Takes back the newest move, title, label or deletion of this session, or one of them; as `Store.undo`."""
        db = self.store.db
        return self.store.write(lambda now: journal.undo(db, leases.session_state(db, self.key).n, cursor, now))

    # Documents ------------------------------------------------------------------------------------------------------

    def document(self, name: str) -> Document:
        """A document of this session. Raises `NotFound`."""
        documents.check_name(name)
        return documents.find(self.store.db, self.key, name)

    def documents(
        self,
        prefix: str = "",
        *,
        names: Iterable[str] | None = None,
        after: str | None = None,
        before: str | None = None,
        limit: int | None = None,
        descending: bool = False,
    ) -> list[Document]:
        """The documents of this session, by name; those whose names begin like this, or those with these names.

        `after` and `before` are names that bound them; `descending` begins at the last. Raises `Invalid` for a negative
        `limit`.
        """
        if names is not None:
            return documents.named(self.store.db, self.key, names)
        at_least("limit", limit, 0)
        given = {"after": after, "before": before, "limit": limit}
        bounds: dict[str, Any] = {name: bound for name, bound in given.items() if bound is not None}
        return documents.all_of(self.store.db, self.key, documents.Range(prefix, descending=descending, **bounds))

    def put_document(self, name: str, value: Json | bytes, revision: int | None = None) -> int:
        """Writes a document, JSON or bytes of at most 1 MiB, and gives its new revision.

        With `revision`, only if the document is at that one, and with 0 only if there is none: otherwise `Conflict`.
        Raises `Invalid` for a value that is too large or no JSON, and `NotFound` if the session was deleted.
        """
        return self._put_document(name, documents.encode(value), revision)

    def put_documents(
        self,
        values: Mapping[str, Json | bytes],
        *,
        delete: Iterable[str] = (),
        revisions: Mapping[str, int] | None = None,
    ) -> dict[str, int]:
        """Writes several documents, and deletes others, all or none; the new revision of each.

        `revisions` are those that some documents, of these or others, must be at, 0 for none. Raises what
        `put_document` and `delete_document` raise.
        """
        contents = self._contents(values, delete)
        for revision in (revisions or {}).values():
            at_least("revision", revision, 0)
        work = partial(documents.put, self.store.db, self.key, contents, revisions or {})
        return self.store.write(work)

    def delete_document(self, name: str, revision: int | None = None) -> None:
        """Deletes a document; with `revision`, only if it is at that one. Raises `NotFound` and `Conflict`."""
        self._put_document(name, documents.NOTHING, revision)

    # Inside ---------------------------------------------------------------------------------------------------------

    def _move(self, verb: UndoVerb, place: Callable[[int | None], int | None]) -> str | None:
        def move(now: int) -> str | None:
            session = leases.unleased(self.store.db, self.key, now)
            target = place(session.head)
            self._stand(session, target, verb, now)
            return lookup.id_of(self.store.db, target)

        return self.store.write(move)

    def _stand(self, session: leases.SessionState, target: int | None, verb: UndoVerb, now: int) -> None:
        turns.move_head(self.store.db, session.n, target)
        changes.add(self.store.db, "moved", now, session.n, target)
        if target != session.head:
            journal.add(self.store.db, verb, now, session=session.n, before=session.head, after=target)

    def _on_the_path(self, head: int | None, to: str) -> int:
        number = lookup.number(self.store.db, to)
        if head is None or number not in lookup.ancestors(self.store.db, head):
            raise Refused(
                f"Message {to!r} is not on the path of session {self.key!r}; "
                "move to it (`move`), or fork at it, instead."
            )
        return number

    def _turns_ago(self, head: int | None, count: int) -> int | None:
        if count < 1:
            raise Invalid("turns is at least 1.")
        found, parent = 0, head
        for found, parent in enumerate(turns.parents_of_turns(self.store.db, head), 1):
            if found == count:
                return parent
        raise Invalid(f"Session {self.key!r} has {found} turns; it cannot go back by {count}.")

    def _contents(self, values: Mapping[str, Json | bytes], delete: Iterable[str] = ()) -> Contents:
        """The columns of documents. Raises `Invalid`."""
        contents = {name: documents.encode(value) for name, value in values.items()}
        contents |= dict.fromkeys(delete, documents.NOTHING)
        for name in contents:
            documents.check_name(name)
        return contents

    def _put_document(self, name: str, content: Content, revision: int | None) -> int:
        documents.check_name(name)
        at_least("revision", revision, 0)
        expected = {} if revision is None else {name: revision}
        put = partial(documents.put, self.store.db, self.key, {name: content}, expected)
        return self.store.write(put)[name]

    def _details(
        self, model: str | None, provider: str | None, instructions: str | None, keep_instructions: bool,
        metadata: dict[str, Json] | None, spent: Usage | None = None,
    ) -> TurnDetails:  # fmt: skip
        """What a turn that is opened stores besides its messages."""
        kept = {"instructions": instructions} if instructions is not None and keep_instructions else {}
        return TurnDetails(
            model, provider, usage=spent or NOTHING, instructions=instructions, metadata={**(metadata or {}), **kept}
        )

    def _number(self, after: str | Unset | None) -> int | Unset | None:
        """The number of the message that is expected at the head."""
        return lookup.number(self.store.db, after) if isinstance(after, str) else after

    def _whole(self, given: SaveTurn) -> WholeTurn:
        """A whole turn, hashed and compressed. Raises `FormatError` and `Invalid`."""
        spoken, read, around = read_turn(given.messages, given.provider)
        entries = self.store.prepare(spoken, self.label)
        own = ReplyDetails(given.model, given.provider, given.request_id)
        replies = attribute(spoken, read, own, given.usage) if spoken else {}
        details = TurnDetails(instructions=given.instructions, metadata={**around, **(given.metadata or {})})
        details.sum_up(replies)
        if isinstance(given.usage, Usage) and [message.role for message in spoken].count("assistant") != 1:
            details.context_tokens = None  # the size after the last reply is known only when there is one
        return WholeTurn(entries, self._link(details), replies, given.idempotency_key)

    def _link(self, details: TurnDetails) -> TurnDetails:
        """Adds the message and the call that this session works for, and its directory, to the details of a turn."""
        message, details.caller_call = self._caller or (None, None)
        details.caller = None if message is None else lookup.number(self.store.db, message)
        details.directory = self._directory
        return details


def recording(
    store: Store, dialog: Iterable[Message | Node], reply: Json, own: ReplyDetails,
    metadata: dict[str, Json] | None = None, label: str | None = None, directory: str | None = None,
) -> Recording:  # fmt: skip
    """A dialog, ready to be recorded, with a provider's reply if there is one. Raises `FormatError`."""
    from bough.storage.record import Recording

    messages = [item.message if isinstance(item, Node) else item for item in dialog]
    around: dict[str, Json] = {}
    if reply is not None:
        said, found, around = read(reply, own.provider)
        messages += said
        own = own.completed_by(found)
    entries = store.prepare(messages, label, lazy=True)
    details = TurnDetails(own.model, own.provider, metadata={**around, **(metadata or {})}, directory=directory)
    digests = chain([entry.message for entry in entries])
    return Recording(entries, digests, details, own if reply is not None else None)


@value
class Opening:
    """How to open a turn, in one session or, if that is busy, in another."""

    message: Message
    details: TurnDetails
    idempotency_key: str | None
    resume: int | None
    """The number of the turn to continue, instead of a new one."""
    lease: float
    after: int | Unset | None = UNSET
    name: tuple[str, str] | None = None

    def open(self, session: Session, wait: float) -> Turn:
        """The open turn, once the session is free. Raises `Busy`."""
        db, owner = session.store.db, new_owner(session.store.db.shared)
        if self.resume is not None:
            where = session.key, self.resume, session._directory, session.label
            work = partial(turns.reopen, db, *where, owner, self.lease)
        else:
            (entry,) = session.store.prepare([self.message], session.label)
            given = entry, session._link(self.details), self.idempotency_key
            work = partial(turns.open_turn, db, session.key, *given, owner, self.lease, self.after, self.name)
        register(owner)
        try:
            return Turn(session, session.store.write(work, wait), self.lease)
        except BaseException:
            unregister(owner)  # the commit may have succeeded: a lease that nobody uses must count as abandoned
            raise


@value
class AnswersOpening:
    """How to open answers to one question."""

    each: tuple[TurnDetails, ...]
    at: str | None
    message: Message | None
    """A new question, instead of that at a message."""
    idempotency_key: str | None
    lease: float
    alone: bool = True

    def open(self, session: Session, wait: float) -> Answers:
        """The open answers, once the session is free. Raises `Busy`."""
        store, owner = session.store, new_owner(session.store.db.shared)
        each = [session._link(details) for details in self.each]
        work: Callable[[int], answers.Opened]
        if self.message is not None:
            (entry,) = store.prepare([self.message], session.label)
            given = entry, each, self.idempotency_key
            work = partial(answers.open_question, store.db, session.key, *given, owner, self.lease)
        else:
            about = self.at, each, session.label, self.idempotency_key, self.alone
            work = partial(answers.open_answers, store.db, session.key, *about, owner, self.lease)
        register(owner)
        try:
            return Answers(session, store.write(work, wait), self.lease)
        except BaseException:
            unregister(owner)  # the commit may have succeeded: a lease that nobody uses must count as abandoned
            raise
