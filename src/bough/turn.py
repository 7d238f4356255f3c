"""An open turn: what an application holds between the question and the answer."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from bough.errors import BoughError, Conflict, Invalid, Refused, StorageError
from bough.model import Json, Message, Node, Status, ToolCall, TurnInfo, Usage, assistant, user
from bough.model.values import replace
from bough.prices import listed_cost
from bough.storage import lookup, turns
from bough.storage.leases import unregister
from bough.storage.messages import Entry
from bough.storage.replies import ReplyDetails, either, reply_index

if TYPE_CHECKING:
    from typing import Self

    from bough.context.compaction import Summarize, Summary
    from bough.context.fit import Context
    from bough.session import Session
    from bough.store import Store


class Turn:
    """Use it in a `with` block: leaving it completes the turn, an exception leaves the turn as a side branch.

    Several threads may add to one turn: what they add is a sequence.
    """

    def __init__(self, session: Session, opened: turns.OpenTurn, lease: float) -> None:
        self.session = session
        self.status: Status = opened.status
        self._opened = opened
        self._lease = lease
        self._mutex = threading.Lock()

    def __repr__(self) -> str:
        return f"<Turn {self.id!r} of {self.session.key!r}, {self.status}>"

    @property
    def id(self) -> str:
        """The id of its first message; the turn can be resumed by it. That of another answer is the id it will get."""
        return self._opened.id

    @property
    def begun(self) -> bool:
        """Whether its first message is stored. A turn that answers a question again begins with its first reply."""
        return self._opened.n > 0

    @property
    def repeated(self) -> bool:
        """Whether it was completed or stopped before, under the same idempotency key; then it adds nothing."""
        return self._opened.repeated

    @property
    def info(self) -> TurnInfo:
        """Its stored state. Raises `NotFound` for an answer that has not begun."""
        return self.session.store.turn_info(self.id)

    @property
    def last(self) -> str:
        """The id of the newest message of this turn."""
        return lookup.id_of(self.session.store.db, self._opened.last) or self.id

    def path(self, last: int | None = None) -> list[Node]:
        """The dialog so far, with what this turn has added."""
        return self.session.store.path(self.last, last)

    def pending_calls(self) -> list[ToolCall]:
        """The tool calls at its end that have no result yet; as `Session.pending_calls`."""
        return self.session.store.pending_calls(self.last)

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
        """The dialog so far as a valid request, with what this turn has added; as `Session.context`."""
        from bough.context.load import context_at

        size: dict[str, Any] = {"model": model, "reserve": reserve, "counter": counter}

        def now() -> Context:
            return context_at(
                self.session.store, self._opened.last, format, budget, strict=strict, dialect=dialect, **size
            )

        made = now()
        if not made.cut or summarize is None or not self.begun:
            return made
        if self.compact(summarize, budget=budget, **size) is None:
            return made
        return now()

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
        """Adds a summary of older turns to this turn, which stays as it is; as `Session.compact`.

        `usage` is called when the summary is written: what that has cost is added to the usage of the turn.
        Raises `Refused` when the turn has ended, and `Conflict` when it grew since or lost the session.
        """
        from bough.context.load import compact_at

        store, last = self.session.store, self._opened.last
        if self.status != "running" or not self.begun:
            state = self.status if self.begun else "about to answer a question again"
            raise Refused(f"Turn {self.id!r} is {state}; compact its session instead.")
        check_keep_turns(keep_turns)
        size: dict[str, Any] = {"model": model, "reserve": reserve, "counter": counter}
        made = compact_at(store, last, summarize, budget, keep_turns=keep_turns, **size)
        if made is None:
            return None
        entry = summary_entry(store, made, self.session.label)
        with self._writing():
            opened = self._opened
            if opened.last != last:
                raise Conflict(f"Turn {self.id!r} grew while a summary was being written; nothing was added.")
            p = opened.details
            tokens = p.context_tokens and round(p.context_tokens * made.after / made.before)
            news = replace(p, context_tokens=tokens)
            own = summary_details(summarize, usage, p.model, p.provider)
            saved = store.write(lambda now: turns.extend(store.db, opened, [entry], news, own, now, self._lease))
            self._opened.details, self._opened.last = news, saved.last
        return saved.ids[0]

    def add(
        self,
        reply: Message | Sequence[Message] | Json,
        *,
        raw: Json = None,
        model: str | None = None,
        provider: str | None = None,
        usage: Usage | None = None,
        request_id: str | None = None,
        started_at: int | None = None,
        first_token_at: int | None = None,
        metadata: dict[str, Json] | None = None,
    ) -> list[str]:
        """Adds replies and tool results; they are durable when this returns. Tokens and cost add up over a turn.

        The reply is a message, several, its text, or a provider's reply as an object of its SDK or as plain JSON: that
        is stored whole, and its model, usage and ids are taken from it. `raw` is a whole reply to keep with messages
        made by hand. What no format understands is kept as it came, with a `FormatWarning`. Raises `FormatError` for
        what is no reply at all, and `Conflict` when the turn was silent for longer than its lease and another writer
        took the session.
        """
        store = self.session.store
        if self.repeated:
            return turns.turn_ids(store.db, self._opened.n)
        if self.status != "running":
            raise Refused(f"Turn {self.id!r} is {self.status}; open another one.")
        messages, told, around = read(reply, provider)
        if raw is not None and messages:
            messages[0] = replace(messages[0], envelope=raw)
        entries, counted = store.prepare(messages, self.session.label), usage or told.usage
        given = ReplyDetails(
            either(model, told.model), either(provider, told.provider), either(request_id, told.request_id), counted,
            started_at, first_token_at,
        )  # fmt: skip
        with self._writing():
            p = self._opened.details
            own = given
            if any(message.role == "assistant" for message in messages):
                own = replace(given, model=either(given.model, p.model), provider=either(given.provider, p.provider))
            news = replace(
                p,
                model=either(given.model, p.model),
                provider=either(given.provider, p.provider),
                request_id=either(given.request_id, p.request_id),
                context_tokens=self._size(entries, counted),
                first_token_at=p.first_token_at or first_token_at,
                metadata={**p.metadata, **around, **(metadata or {})},
            )
            saved = store.write(lambda now: turns.extend(store.db, self._opened, entries, news, own, now, self._lease))
            self._opened.details = news
            if entries:
                self._opened.last = saved.last
                if self._opened.n < 0:
                    self._opened.n, self._opened.id = saved.first, saved.ids[0]
        return saved.ids

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One write after the other. One that failed may be there all the same, if only its sync failed."""
        with self._mutex:
            try:
                yield
            except StorageError:
                with suppress(BoughError):
                    self._opened, self.status = turns.reload(self.session.store.db, self._opened)
                raise

    def _size(self, entries: Sequence[Entry], counted: Usage) -> int | None:
        """The tokens of the dialog with these messages: as counted, or the last count and estimates since."""
        before = self._opened.details.context_tokens
        since = None if before is None else before + sum(entry.draft.weight for entry in entries)
        size = turns.dialog_size(counted) if entries else None  # otherwise it was spent on something else
        return since if size is None else size

    def sketch(self, reply: Message | str) -> None:
        """Stores a reply that is still being streamed, so that a crash does not lose it.

        Every call replaces the one before, and the next message that is added replaces all of them. If the
        turn ends without the whole reply, or its writer dies, the sketch becomes the turn's last message, marked as an
        error, and the turn becomes a side branch. Raises `Invalid` for blocks other than text and thinking.
        """
        store, message = self.session.store, assistant(reply) if isinstance(reply, str) else reply
        (entry,) = store.prepare([message], self.session.label, lazy=True)
        with self._writing():
            if self.status == "running":
                store.write(lambda now: turns.sketch(store.db, self._opened, entry, now, self._lease))

    def delegate(
        self, agent: str, run_id: str | None = None, *, call_id: str | None = None, own: bool = False
    ) -> Session:
        """A subagent's session, linked to the newest message of this turn; as `Session.delegate`."""
        return self.session.delegate(agent, run_id, message=self.last, call_id=call_id, own=own)

    def complete(self) -> None:
        """Makes the turn part of the session; one without a reply, or with half of one, becomes a side branch instead.

        Raises `Conflict` when the session was moved, or taken over, in the meantime; the turn is then a side branch.
        """
        if self._end("complete", None) not in (None, turns.NO_REPLY, turns.UNFINISHED):
            raise self._moved_on()

    def stop(self, why: str | None = None) -> None:
        """Ends the turn as a person demands: the question and the part of the reply received are part of the session.

        The part that was sketched becomes the last message, marked as an error. In the next request, calls without a
        result are answered as stopped by the user. Raises `Conflict` as `complete` does.
        """
        if self._end("stopped", why) != why:
            raise self._moved_on()

    def _moved_on(self) -> Conflict:
        return Conflict(
            f"Session {self.session.key!r} moved on while turn {self.id!r} was being written. "
            "The turn is kept as a side branch; fork from it to go on."
        )

    def interrupt(self, why: str | None = None) -> None:
        """Makes the turn a side branch: it can be resumed by its id."""
        self._end("interrupted", why)

    def fail(self, why: str) -> None:
        """Marks the turn as failed: kept, never part of the session's dialog. It can be resumed."""
        self._end("failed", why)

    def _end(self, status: Status, why: str | None) -> str | None:
        """Ends the turn; the reason if it ended otherwise than asked."""
        store = self.session.store
        with self._writing():
            if self.status == "running":
                try:
                    ending = store.write(lambda now: turns.finish(store.db, self._opened, status, why, now))
                    self.status, why, self._opened.last, n = ending
                    if n != self._opened.n:
                        self._opened.n, self._opened.id = n, lookup.id_of(store.db, n) or self.id
                finally:
                    if self._opened.asked is None or self._opened.asked.alone:
                        unregister(self._opened.owner)  # whatever went wrong, the session is not kept from others
        return why

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            self.complete()
        else:
            self.end_with(error)

    def end_with(self, error: BaseException) -> None:
        """Ends the turn as an exception demands: failed, or interrupted by Ctrl+C and the like."""
        if isinstance(error, Exception):
            self.fail(f"{type(error).__name__}: {error}")
        else:
            self.interrupt(type(error).__name__)


def check_keep_turns(keep_turns: int | None) -> None:
    if keep_turns is not None and keep_turns < 1:
        raise Invalid(f"The newest turn is never summarised: keep_turns is at least 1, not {keep_turns}.")


def summary_entry(store: Store, summary: Summary, label: str | None) -> Entry:
    """A summary, ready to be inserted at the end of its path."""
    (entry,) = store.prepare([summary.message], label)
    entry.kind, entry.covers = "summary", lookup.number(store.db, summary.covers)
    return entry


def summary_details(
    summarize: Summarize, usage: Callable[[], Usage] | None, model: str | None = None, provider: str | None = None
) -> ReplyDetails:
    """Who has written a summary, as far as its writer says it, and what it has cost, if that is to be kept with it."""
    if usage is None:
        return ReplyDetails()
    spent = usage()
    own = getattr(summarize, "model", None), getattr(summarize, "provider", None)
    if spent == Usage() and own == (None, None):
        return ReplyDetails()
    return ReplyDetails(either(own[0], model), either(own[1], provider), usage=spent)


def read(
    reply: Message | Sequence[Message] | Json, provider: str | None = None
) -> tuple[list[Message], ReplyDetails, dict[str, Json]]:
    """The messages of a reply, how it came about, and metadata for its turn. Raises `FormatError`."""
    if isinstance(reply, (Message, str)):
        return [assistant(reply) if isinstance(reply, str) else reply], ReplyDetails(), {}
    if isinstance(reply, (list, tuple)) and all(isinstance(item, Message) for item in reply):
        return list(reply), ReplyDetails(), {}
    from bough import formats

    name, decoded = formats.decode_any(reply)
    told = decoded.provenance
    messages, around = list(decoded.messages), {"reply": told.envelope}
    if messages:
        messages[0] = replace(messages[0], envelope={**(messages[0].envelope or {}), **around} if name else None)
    usage = told.usage
    if usage != Usage() and usage.cost is None and name is not None:
        usage = replace(usage, cost=listed_cost(name, told.envelope, provider, told.provider))
    request_id = told.request_id or told.response_id or None  # a reply in which a name is empty does not say it
    details = ReplyDetails(told.model or None, told.provider or None, request_id, usage)
    return messages, details, {} if messages else around  # a reply without a message was refused, and says why


def read_turn(
    items: Sequence[Message | Json], provider: str | None = None
) -> tuple[list[Message], dict[int, ReplyDetails], dict[str, Json]]:
    """The messages of a whole turn, the details of the providers' replies among them by index, and metadata.

    A text at the beginning is the user's, any other is a reply.
    """
    if all(isinstance(item, Message) for item in items):  # nearly every turn
        return list(items), {}, {}
    messages: list[Message] = []
    details: dict[int, ReplyDetails] = {}
    metadata: dict[str, Json] = {}
    for item in items:
        given = user(item) if isinstance(item, str) and not messages else item
        made, reply, around = read(given, provider)
        if made and reply != ReplyDetails():
            details[len(messages) + reply_index(made)] = reply
        messages += made
        metadata |= around
    return messages, details, metadata
