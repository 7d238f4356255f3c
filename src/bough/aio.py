"""The awaitable form of `Store`, `Session`, `Turn` and `Recorder`, with the same names, parameters and types.

Each method runs its synchronous counterpart in a thread, so no transaction spans an `await`, and a save that is
cancelled is stored whole or not at all: its thread is not stopped. What is a property there and reads the store is
awaited without a call: `await session.head`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, update_wrapper
from itertools import islice
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from bough import engines
from bough.answers import Answers
from bough.errors import Busy
from bough.model import Change, Message, SessionInfo, Status, Totals, TurnInfo
from bough.recorder import Item, Kept, save_dialog
from bough.session import WAIT, Session
from bough.storage import changes, leases
from bough.store import PAGE, Store
from bough.turn import Turn

if TYPE_CHECKING:
    from typing import Self

    from bough.model.times import Span, Time
    from bough.storage.copy import Copied
    from bough.storage.replies import Group, Pair

P = ParamSpec("P")
Opened = TypeVar("Opened", Turn, Answers)
R = TypeVar("R")


class _Facade:
    """Holds a synchronous object and the threads that its methods run in."""

    def __init__(self, sync: Any, threads: ThreadPoolExecutor) -> None:
        self.sync = sync
        self._threads = threads

    async def _hop(self, verb: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: verb(*args, **kwargs))


# Each of these takes a synchronous method and keeps its parameters, so that a type checker sees them.


def hop(verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """The awaitable form of a method."""

    async def awaitable(self: _Facade, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._hop(partial(verb, self.sync), *args, **kwargs)

    return update_wrapper(awaitable, verb)


def hop_to_session(
    verb: Callable[Concatenate[Any, P], Session],
) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, AsyncSession]]:
    """The awaitable form of a method that returns a session."""

    async def awaitable(self: _Facade, /, *args: P.args, **kwargs: P.kwargs) -> AsyncSession:
        return AsyncSession(await self._hop(partial(verb, self.sync), *args, **kwargs), self._threads)

    return update_wrapper(awaitable, verb)


def hop_when_free(verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """The awaitable form of a method with the parameter `wait`: it waits for a busy session without a thread."""

    async def awaitable(self: _Facade, /, *args: P.args, **kwargs: P.kwargs) -> R:
        wait: Any = kwargs.pop("wait", WAIT)
        once: Callable[..., R] = partial(verb, self.sync, *args, **kwargs)
        return await retry(lambda: self._hop(once, wait=0), wait)

    return update_wrapper(awaitable, verb)


def hop_to_turn(verb: Callable[Concatenate[Any, P], Turn]) -> Callable[Concatenate[Any, P], AsyncTurn]:
    """The form of a method that opens a turn: the turn is opened when its `async with` block is entered."""

    def opened_later(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> AsyncTurn:
        wait: Any = kwargs.pop("wait", WAIT)
        busy: Any = kwargs.pop("busy", "raise")
        once: Callable[..., Turn] = partial(verb, self.sync, *args, **kwargs)

        async def open_() -> Turn:
            try:
                return await retry(lambda: self._open(once), wait)
            except Busy:
                if busy == "raise":
                    raise
            return await self._open(partial(once, busy=busy))

        return AsyncTurn(open_, self._threads)

    return update_wrapper(opened_later, verb)


def hop_to_answers(verb: Callable[Concatenate[Any, P], Answers]) -> Callable[Concatenate[Any, P], AsyncAnswers]:
    """The form of a method that opens several turns: they are opened when its `async with` block is entered."""

    def opened_later(self: AsyncSession, /, *args: P.args, **kwargs: P.kwargs) -> AsyncAnswers:
        wait: Any = kwargs.pop("wait", WAIT)
        once: Callable[..., Answers] = partial(verb, self.sync, *args, **kwargs)
        return AsyncAnswers(lambda: retry(lambda: self._open(once), wait), self._threads)

    return update_wrapper(opened_later, verb)


def stream(
    verb: Callable[Concatenate[Any, P], Iterator[R]], at_once: int = PAGE
) -> Callable[Concatenate[Any, P], AsyncIterator[R]]:
    """The asynchronous iterator of a method that returns an iterator. `at_once` items are read per hop."""

    async def items(self: _Facade, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        iterator = await self._hop(partial(verb, self.sync), *args, **kwargs)
        while batch := await self._hop(lambda: list(islice(iterator, at_once))):
            for item in batch:
                yield item

    return update_wrapper(items, verb)


def _opening(connect: Callable[P, Store]) -> Callable[P, Coroutine[Any, Any, AsyncStore]]:
    async def awaitable(*args: P.args, **kwargs: P.kwargs) -> AsyncStore:
        opened = await asyncio.to_thread(connect, *args, **kwargs)
        opened.reads_ahead = True  # messages are decoded in the thread, and not in the event loop at their first use
        return AsyncStore(opened, ThreadPoolExecutor(opened.db.concurrency, "bough"))

    return update_wrapper(awaitable, connect)


connect = _opening(engines.connect)


class AsyncStore(_Facade):
    """An awaitable `Store`; `async with` closes it."""

    sync: Store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the file. Using the store afterwards raises `Refused`."""
        await self._hop(self.sync.close)
        self._threads.shutdown(wait=False)

    save_messages = hop(Store.save_messages)
    get_messages = hop(Store.get_messages)
    delete_messages = hop(Store.delete_messages)
    path = hop(Store.path)
    window = hop(Store.window)
    pending_calls = hop(Store.pending_calls)
    children = hop(Store.children)
    forest = hop(Store.forest)
    outline = hop(Store.outline)
    segments = hop(Store.segments)
    compare = hop(Store.compare)
    headlines = hop(Store.headlines)
    size = hop(Store.size)
    label = hop(Store.label)
    pin = hop(Store.pin)
    unpin = hop(Store.unpin)
    pins = hop(Store.pins)
    labels = hop(Store.labels)
    find_id = hop(Store.find_id)
    find_ids = hop(Store.find_ids)
    verify = hop(Store.verify)
    unreachable = hop(Store.unreachable)
    find_session = hop(Store.find_session)
    last_session = hop(Store.last_session)
    sessions = hop(Store.sessions)
    previews = hop(Store.previews)
    sessions_through = hop(Store.sessions_through)
    delete_session = hop(Store.delete_session)
    turns = hop(Store.turns)
    turn_info = hop(Store.turn_info)
    replies = hop(Store.replies)
    running_replies = hop(Store.running_replies)
    usage = hop(Store.usage)
    find_external = hop(Store.find_external)
    name_externally = hop(Store.name_externally)
    names = hop(Store.names)
    forget_name = hop(Store.forget_name)
    annotate_turn = hop(Store.annotate_turn)
    bring_in = hop(Store.bring_in)
    search = hop(Store.search)
    facets = hop(Store.facets)
    index = hop(Store.index)
    index_status = hop(Store.index_status)
    trash = hop(Store.trash)
    find_deleted = hop(Store.find_deleted)
    restore = hop(Store.restore)
    purge = hop(Store.purge)
    migrate = hop(Store.migrate)
    clean = hop(Store.clean)
    backup = hop(Store.backup)

    session = hop_to_session(Store.session)
    fork = hop_to_session(Store.fork)
    record = hop_to_session(Store.record)
    list_messages = stream(Store.list_messages)
    list_turns = stream(Store.list_turns)
    list_replies = stream(Store.list_replies)
    list_names = stream(Store.list_names)
    list_documents = stream(Store.list_documents, at_once=1)
    idle_sessions = stream(Store.idle_sessions)
    list_trees = stream(Store.list_trees, at_once=1)
    has_subagent_runs = hop(Store.has_subagent_runs)
    content = stream(Store.content, at_once=1)
    undoable = hop(Store.undoable)
    undo = hop(Store.undo)
    cursor = hop(Store.cursor)
    changes = hop(Store.changes)

    async def watch(self, after: int | None = None, *, timeout: Span | None = None) -> AsyncIterator[Change]:
        """The changes after a cursor, or from the first `await` on; as `Store.watch`. Waiting holds no thread."""
        follower = await self._hop(self.sync.follower, after)
        seconds = changes.seconds(timeout)
        last = time.monotonic()
        while True:
            if found := await self._hop(follower.poll):
                for change in found:
                    yield change
                last = time.monotonic()
            elif seconds is not None and time.monotonic() - last >= seconds:
                return
            else:
                await asyncio.sleep(changes.PAUSE)

    async def copy_to(self, target: AsyncStore, progress: Callable[[int, int], None] | None = None) -> Copied:
        """Makes another store a copy of this one; as `Store.copy_to`. `progress` is called in a thread."""
        return await self._hop(self.sync.copy_to, target.sync, progress)


class AsyncSession(_Facade):
    """An awaitable `Session`."""

    sync: Session

    @property
    def key(self) -> str:
        """The key of the session."""
        return self.sync.key

    @property
    def label(self) -> str | None:
        """The label of every node that is added through this object."""
        return self.sync.label

    @property
    def info(self) -> Coroutine[Any, Any, SessionInfo]:
        """Its stored state: `await session.info`. Raises `NotFound` if it was deleted."""
        return self._hop(lambda: self.sync.info)

    @property
    def head(self) -> Coroutine[Any, Any, str | None]:
        """The id of its head: `await session.head`; None before the first turn."""
        return self._hop(lambda: self.sync.head)

    @property
    def unfinished(self) -> Coroutine[Any, Any, list[TurnInfo]]:
        """The turns that can be resumed at its head: `await session.unfinished`."""
        return self._hop(lambda: self.sync.unfinished)

    path = hop(Session.path)
    context = hop(Session.context)
    branches = hop(Session.branches)
    pending_calls = hop(Session.pending_calls)
    trace = hop(Session.trace)
    turns = hop(Session.turns)
    replies = hop(Session.replies)
    update = hop(Session.update)
    pin = hop(Session.pin)
    unpin = hop(Session.unpin)
    expire = hop(Session.expire)
    move = hop(Session.move)
    rewind = hop(Session.rewind)
    pop = hop(Session.pop)
    clear = hop(Session.clear)
    undoable = hop(Session.undoable)
    undo = hop(Session.undo)
    compact = hop(Session.compact)
    document = hop(Session.document)
    documents = hop(Session.documents)
    put_document = hop(Session.put_document)
    put_documents = hop(Session.put_documents)
    delete_document = hop(Session.delete_document)

    @overload  # `hop` would keep the first of them only
    async def usage(
        self, *, by: None = None, since: Time | None = None, until: Time | None = None, delegates: bool = True
    ) -> Totals: ...

    @overload
    async def usage(
        self, *, by: Group | Pair, since: Time | None = None, until: Time | None = None, delegates: bool = True
    ) -> list[Totals]: ...

    async def usage(
        self,
        *,
        by: Group | Pair | None = None,
        since: Time | None = None,
        until: Time | None = None,
        delegates: bool = True,
    ) -> Totals | list[Totals]:
        """Its tokens and cost, with those of the sessions that work for it; as `Session.usage`."""
        verb: Callable[..., Totals | list[Totals]] = self.sync.usage
        return await self._hop(verb, by=by, since=since, until=until, delegates=delegates)

    save_turn = hop_when_free(Session.save_turn)
    save_turns = hop_when_free(Session.save_turns)
    append = hop_when_free(Session.append)
    record = hop_when_free(Session.record)
    turn = hop_to_turn(Session.turn)
    answer = hop_to_turn(Session.answer)
    answers = hop_to_answers(Session.answers)
    fork = hop_to_session(Session.fork)
    delegate = hop_to_session(Session.delegate)

    async def new(self, title: str | None = None) -> AsyncSession | None:
        """Starts afresh under the same key; as `Session.new`."""
        archived = await self._hop(self.sync.new, title)
        return None if archived is None else AsyncSession(archived, self._threads)

    async def _open(self, once: Callable[..., Opened]) -> Opened:
        """One try at opening a turn. If it is cancelled while the thread opens one, the turn is interrupted."""
        opening = asyncio.ensure_future(self._hop(once, wait=0))

        def put_aside(opened: asyncio.Future[Opened]) -> None:
            if not opened.cancelled() and opened.exception() is None:
                self._threads.submit(opened.result().end_with, asyncio.CancelledError())

        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(put_aside)
            raise


class AsyncTurn(_Facade):
    """An awaitable `Turn`; it opens when the `async with` block is entered."""

    sync: Turn

    def __init__(self, opening: Callable[[], Awaitable[Turn]], threads: ThreadPoolExecutor) -> None:
        super().__init__(None, threads)
        self._opening = opening

    async def __aenter__(self) -> Self:
        self.sync = await self._opening()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # Whatever is cancelled now, the turn must end: an open one would keep the session from everyone else.
        ending = self.sync.complete if error is None else lambda: self.sync.end_with(error)
        await asyncio.shield(self._hop(ending))

    @property
    def is_open(self) -> bool:
        """Whether the block was entered."""
        return self.sync is not None

    @property
    def begun(self) -> bool:
        """Whether its first message is stored; as `Turn.begun`."""
        return self.sync.begun

    @property
    def id(self) -> str:
        """The id of its first message; the turn can be resumed by it."""
        return self.sync.id

    @property
    def status(self) -> Status:
        """How it ended, or `running`."""
        return self.sync.status

    @property
    def repeated(self) -> bool:
        """Whether it was completed before, under the same idempotency key; then it adds nothing."""
        return self.sync.repeated

    @property
    def info(self) -> Coroutine[Any, Any, TurnInfo]:
        """Its stored state: `await turn.info`."""
        return self._hop(lambda: self.sync.info)

    @property
    def last(self) -> Coroutine[Any, Any, str]:
        """The id of the newest message of this turn: `await turn.last`."""
        return self._hop(lambda: self.sync.last)

    @property
    def session(self) -> AsyncSession:
        """The session that it belongs to."""
        return AsyncSession(self.sync.session, self._threads)

    path = hop(Turn.path)
    pending_calls = hop(Turn.pending_calls)
    context = hop(Turn.context)
    compact = hop(Turn.compact)
    add = hop(Turn.add)
    sketch = hop(Turn.sketch)
    complete = hop(Turn.complete)
    stop = hop(Turn.stop)
    interrupt = hop(Turn.interrupt)
    fail = hop(Turn.fail)
    delegate = hop_to_session(Turn.delegate)


class AsyncAnswers(_Facade):
    """Awaitable `Answers`; they open when the `async with` block is entered."""

    sync: Answers
    turns: tuple[AsyncTurn, ...] = ()
    """The answers. Each may be written by a task of its own, in `async with turn`."""

    def __init__(self, opening: Callable[[], Awaitable[Answers]], threads: ThreadPoolExecutor) -> None:
        super().__init__(None, threads)
        self._opening = opening

    async def __aenter__(self) -> Self:
        self.sync = await self._opening()
        self.turns = tuple(AsyncTurn(partial(_now, turn), self._threads) for turn in self.sync.turns)
        for turn, opened in zip(self.turns, self.sync.turns, strict=True):
            turn.sync = opened
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        ending = self.sync.close if error is None else lambda: self.sync.end_with(error)
        await asyncio.shield(self._hop(ending))

    def __iter__(self) -> Iterator[AsyncTurn]:
        return iter(self.turns)

    def __len__(self) -> int:
        return len(self.turns)

    def __getitem__(self, index: int) -> AsyncTurn:
        return self.turns[index]

    @property
    def chosen(self) -> AsyncTurn | None:
        """The answer that the head goes to; as `Answers.chosen`."""
        chosen = self.sync.chosen
        return next((turn for turn in self.turns if turn.sync is chosen), None)

    @property
    def question(self) -> Coroutine[Any, Any, str]:
        """The id of the question: `await answers.question`."""
        return self._hop(lambda: self.sync.question)

    @property
    def session(self) -> AsyncSession:
        """The session that they belong to."""
        return AsyncSession(self.sync.session, self._threads)

    def choose(self, answer: AsyncTurn) -> None:
        """Names the answer that the dialog goes on with. Raises `Invalid` for one of another question."""
        self.sync.choose(answer.sync)

    close = hop(Answers.close)


async def _now(turn: Turn) -> Turn:
    """An answer that is open already."""
    return turn


class AsyncRecorder:
    """Like `Recorder`, with an awaitable `generate`."""

    def __init__(
        self,
        saver: AsyncStore,
        generate: Callable[[list[Message]], Awaitable[Message | Sequence[Message]]],
        label: str | None = None,
    ) -> None:
        self._saver = saver
        self._generate = generate
        self._label = label

    async def __call__(self, dialog: Sequence[Item]) -> list[Kept]:
        """The dialog, saved, with the reply at its end."""
        kept = await self.save(dialog)
        reply = await self._generate([item.message for item in kept])
        return await self.save([*kept, *([reply] if isinstance(reply, Message) else reply)])

    async def save(self, dialog: Sequence[Item]) -> list[Kept]:
        """Saves what has no id yet, all or none."""
        return await self._saver._hop(save_dialog, self._saver.sync, dialog, self._label)


async def retry(work: Callable[[], Awaitable[R]], wait: float) -> R:
    """Tries again while a session is busy. Waiting here holds no thread: the turn that is waited for may need it."""
    pauses = leases.patience(wait)
    while True:
        try:
            return await work()
        except Busy:
            if (pause := next(pauses, None)) is None:
                raise
        await asyncio.sleep(pause)


__all__ = ["AsyncAnswers", "AsyncRecorder", "AsyncSession", "AsyncStore", "AsyncTurn", "connect"]
