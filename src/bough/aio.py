"""The same verbs, awaitable.

Meaning is written once, in the synchronous classes. Each verb here is one hop to a thread, so no transaction spans an
`await`, and a cancelled save lands whole or not at all: the thread behind it is not stopped.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Concatenate, Literal, ParamSpec, TypeVar

from bough import engines, session, store
from bough.db import StrPath
from bough.errors import Busy
from bough.model import ExternalName, Message, Node, SessionInfo, Status, TurnInfo
from bough.recorder import Item, Kept, save_dialog
from bough.storage import leases
from bough.turn import Turn

if TYPE_CHECKING:
    from typing import Self

    from bough.storage.copy import Copied

P = ParamSpec("P")
R = TypeVar("R")


class _Facade:
    """Holds a synchronous object and the threads that its verbs run in."""

    def __init__(self, sync: Any, threads: ThreadPoolExecutor) -> None:
        self.sync = sync
        self._threads = threads

    async def _hop(self, verb: Callable[..., R], *args: Any, **kwargs: Any) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: verb(*args, **kwargs))


def hop(verb: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    """The awaitable form of a synchronous verb."""

    async def awaitable(self: _Facade, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._hop(verb, self.sync, *args, **kwargs)

    awaitable.__name__, awaitable.__doc__ = verb.__name__, verb.__doc__
    return awaitable


async def connect(where: StrPath | None = None, **options: Any) -> AsyncStore:
    """Opens a store; as `bough.connect`."""
    opened = await asyncio.to_thread(engines.connect, where, **options)
    opened.reads_ahead = True  # in the thread, and not in the event loop when somebody looks
    return AsyncStore(opened, ThreadPoolExecutor(opened.db.concurrency, "bough"))


class AsyncStore(_Facade):
    """Conversations in one place; `async with` closes it."""

    sync: store.Store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._hop(self.sync.close)
        self._threads.shutdown(wait=False)

    save_messages = hop(store.Store.save_messages)
    get_messages = hop(store.Store.get_messages)
    delete_messages = hop(store.Store.delete_messages)
    path = hop(store.Store.path)
    children = hop(store.Store.children)
    forest = hop(store.Store.forest)
    outline = hop(store.Store.outline)
    headlines = hop(store.Store.headlines)
    size = hop(store.Store.size)
    label = hop(store.Store.label)
    find_id = hop(store.Store.find_id)
    find_ids = hop(store.Store.find_ids)
    verify = hop(store.Store.verify)
    find_session = hop(store.Store.find_session)
    sessions = hop(store.Store.sessions)
    sessions_through = hop(store.Store.sessions_through)
    delete_session = hop(store.Store.delete_session)
    turns = hop(store.Store.turns)
    turn_info = hop(store.Store.turn_info)
    usage = hop(store.Store.usage)
    find_external = hop(store.Store.find_external)
    name_externally = hop(store.Store.name_externally)
    bring_in = hop(store.Store.bring_in)
    search = hop(store.Store.search)
    index = hop(store.Store.index)
    trash = hop(store.Store.trash)
    restore = hop(store.Store.restore)
    purge = hop(store.Store.purge)
    migrate = hop(store.Store.migrate)
    clean = hop(store.Store.clean)
    backup = hop(store.Store.backup)

    async def session(self, key: str, **description: Any) -> AsyncSession:
        """The session with this key, found or made; as `Store.session`."""
        return AsyncSession(await self._hop(self.sync.session, key, **description), self._threads)

    async def fork(self, id: str, key: str | None = None, title: str | None = None) -> AsyncSession:
        """A new session that stands at a message; as `Store.fork`."""
        return AsyncSession(await self._hop(self.sync.fork, id, key, title), self._threads)

    async def copy_to(self, target: AsyncStore, progress: Callable[[int, int], None] | None = None) -> Copied:
        """Makes another store a copy of this one; as `Store.copy_to`. `progress` is called in a thread."""
        return await self._hop(self.sync.copy_to, target.sync, progress)

    def list_messages(self, offset: int = 0, limit: int | None = None, ascending: bool = False) -> AsyncIterator[Node]:
        """Every message, the newest first; as `Store.list_messages`."""
        return self._stream(lambda: self.sync.list_messages(offset, limit, ascending))

    def list_turns(self, of: Sequence[str] | None = None) -> AsyncIterator[TurnInfo]:
        """Every turn, the newest first, or those of some messages; as `Store.list_turns`."""
        return self._stream(lambda: self.sync.list_turns(of))

    def list_names(self, of: Sequence[str] | None = None) -> AsyncIterator[ExternalName]:
        """What others call the messages and sessions, or some messages; as `Store.list_names`."""
        return self._stream(lambda: self.sync.list_names(of))

    def content(self, id: str, position: int = 0, chunk: int = 65_536) -> AsyncIterator[bytes]:
        """The content of one block, a piece at a time; as `Store.content`."""
        return self._stream(lambda: self.sync.content(id, position, chunk), at_once=1)

    async def _stream(self, start: Callable[[], Iterator[R]], at_once: int = store.PAGE) -> AsyncIterator[R]:
        items = await self._hop(start)

        def some() -> list[R]:
            return [item for _, item in zip(range(at_once), items, strict=False)]

        while batch := await self._hop(some):
            for item in batch:
                yield item


class AsyncSession(_Facade):
    """A persistent name for a message."""

    sync: session.Session

    @property
    def key(self) -> str:
        return self.sync.key

    @property
    def label(self) -> str | None:
        return self.sync.label

    async def info(self) -> SessionInfo:
        """What is known of it now."""
        return await self._hop(lambda: self.sync.info)

    async def head(self) -> str | None:
        """The id of the message where it stands."""
        return await self._hop(lambda: self.sync.head)

    path = hop(session.Session.path)
    context = hop(session.Session.context)
    turns = hop(session.Session.turns)
    usage = hop(session.Session.usage)
    update = hop(session.Session.update)
    move = hop(session.Session.move)
    rewind = hop(session.Session.rewind)
    pop = hop(session.Session.pop)
    clear = hop(session.Session.clear)
    compact = hop(session.Session.compact)

    async def save_turn(self, messages: Sequence[Message], *, wait: float = session.WAIT, **given: Any) -> list[str]:
        """Appends a complete turn in one transaction; as `Session.save_turn`."""
        return await retry(lambda: self._hop(self.sync.save_turn, messages, wait=0, **given), wait)

    async def record(self, dialog: Sequence[Message | Node], *, wait: float = session.WAIT, **given: Any) -> list[str]:
        """Keeps a dialog that the application holds as a whole; as `Session.record`."""
        return await retry(lambda: self._hop(self.sync.record, dialog, wait=0, **given), wait)

    def turn(
        self,
        message: Message | str | None = None,
        *,
        wait: float = session.WAIT,
        busy: Literal["raise", "fork"] = "raise",
        **given: Any,
    ) -> AsyncTurn:
        """A turn, to be used with `async with`; as `Session.turn`."""

        async def open_() -> Turn:
            try:
                return await retry(lambda: self._open(message, given), wait)
            except Busy:
                if busy == "raise":
                    raise
            return await self._open(message, {**given, "busy": busy})

        return AsyncTurn(open_, self._threads)

    async def _open(self, message: Message | str | None, given: dict[str, Any]) -> Turn:
        """One try at opening a turn. If it is cancelled while the thread opens one, that turn is put aside at once."""
        opening = asyncio.ensure_future(self._hop(self.sync.turn, message, wait=0, **given))

        def put_aside(opened: asyncio.Future[Turn]) -> None:
            if not opened.cancelled() and opened.exception() is None:
                self._threads.submit(opened.result().interrupt, "CancelledError")

        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(put_aside)
            raise

    async def fork(self, at: str | None = None, key: str | None = None, title: str | None = None) -> AsyncSession:
        """A new session that stands at a message; as `Session.fork`."""
        return AsyncSession(await self._hop(self.sync.fork, at, key, title), self._threads)

    async def new(self, title: str | None = None) -> AsyncSession | None:
        """Starts afresh under the same key; as `Session.new`."""
        archived = await self._hop(self.sync.new, title)
        return None if archived is None else AsyncSession(archived, self._threads)

    async def delegate(self, agent: str, run_id: str | None = None, **caller: Any) -> AsyncSession:
        """The session in which a subagent works for this one; as `Session.delegate`."""
        return AsyncSession(await self._hop(self.sync.delegate, agent, run_id, **caller), self._threads)


class AsyncTurn(_Facade):
    """A turn that is being written; it opens when the `async with` block is entered."""

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
    def id(self) -> str:
        return self.sync.id

    @property
    def status(self) -> Status:
        return self.sync.status

    @property
    def repeated(self) -> bool:
        return self.sync.repeated

    async def info(self) -> TurnInfo:
        """What is stored of it now."""
        return await self._hop(lambda: self.sync.info)

    @property
    def session(self) -> AsyncSession:
        return AsyncSession(self.sync.session, self._threads)

    path = hop(Turn.path)
    context = hop(Turn.context)
    add = hop(Turn.add)
    sketch = hop(Turn.sketch)
    complete = hop(Turn.complete)
    interrupt = hop(Turn.interrupt)
    fail = hop(Turn.fail)

    async def delegate(self, agent: str, run_id: str | None = None, **call: Any) -> AsyncSession:
        """A subagent's session, linked to the newest message of this turn; as `Turn.delegate`."""
        return AsyncSession(await self._hop(self.sync.delegate, agent, run_id, **call), self._threads)


class AsyncRecorder:
    """The saving middleware around an awaitable `generate`; as `Recorder`."""

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


__all__ = ["AsyncRecorder", "AsyncSession", "AsyncStore", "AsyncTurn", "connect"]
