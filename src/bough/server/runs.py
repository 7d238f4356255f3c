"""The turns that people run through the page: each in a thread, with what it writes as it comes."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from bough.agent import regenerate, run
from bough.agent.events import Began, Event
from bough.agent.limits import Stop
from bough.agent.several import run_several
from bough.errors import BoughError, Invalid
from bough.model.values import value
from bough.providers.types import Piece
from bough.runtime.settings import AgentOptions

if TYPE_CHECKING:
    from bough.agent import Agent
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore
    from bough.session import Session

KEPT = 20_000
"""Pieces of replies that a reader may be behind; one who is further behind reads the store."""
LONGEST = 30.0
"""Seconds after which a turn that has not begun is an error."""
MOST_MODELS = 4
Listener: TypeAlias = Callable[[int, Event], None]


@value
class Delta:
    """A piece of a reply that is being written."""

    number: int
    store: ServedStore
    turn: str
    text: str


class Runs:
    """Starts turns, stops them, and keeps the last pieces of their replies."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context
        self._running: dict[tuple[ServedStore, str], Stop] = {}
        self._threads: set[threading.Thread] = set()
        self._deltas: deque[Delta] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._count = 0

    # What is called in a thread of the store ------------------------------------------------------------------------

    def ask(self, store: ServedStore, session: Session, words: str, models: Sequence[str | None]) -> str:
        """Ask a new question in a session; the id of the turn. Raises what opening the turn raises."""
        agents = self._agents(session, models)
        if len(agents) == 1:
            return self._start(store, agents, lambda listener, stop: run(
                agents[0], session, words, listener=lambda event: listener(0, event), stop=stop))  # fmt: skip
        return self._start(store, agents, lambda listener, stop: run_several(
            agents, session, words, listener=listener, stop=stop))  # fmt: skip

    def answer(self, store: ServedStore, session: Session, at: str, models: Sequence[str | None]) -> str:
        """Answer a question again; the id of the first turn. Raises what opening the turn raises."""
        agents = self._agents(session, models)
        if len(agents) == 1:
            return self._start(store, agents, lambda listener, stop: regenerate(
                agents[0], session, at, listener=lambda event: listener(0, event), stop=stop))  # fmt: skip
        return self._start(store, agents, lambda listener, stop: run_several(
            agents, session, at=at, listener=listener, stop=stop))  # fmt: skip

    def resume(self, store: ServedStore, session: Session, turn: str, model: str | None) -> str:
        """Take up a turn that did not end. Raises what opening the turn raises."""
        agents = self._agents(session, [model])
        return self._start(store, agents, lambda listener, stop: run(
            agents[0], session, resume=turn, listener=lambda event: listener(0, event), stop=stop))  # fmt: skip

    def stop(self, store: ServedStore, turn: str) -> bool:
        """Stop a turn that this process writes: what has come is kept. False for one of another process."""
        found = self._running.get((store, turn))
        if found is not None:
            found.set()
        return found is not None

    def deltas(self, store: ServedStore, after: int) -> list[Delta]:
        """The pieces of a store's replies after a number."""
        with self._lock:
            return [delta for delta in self._deltas if delta.number > after and delta.store is store]

    @property
    def newest(self) -> int:
        """The number of the last piece."""
        return self._count

    def close(self, seconds: float) -> None:
        """Interrupt all turns, and wait for them to be stored."""
        for stop in list(self._running.values()):
            stop.set(by_user=False)
        for thread in list(self._threads):
            thread.join(seconds)

    def _agents(self, session: Session, models: Sequence[str | None]) -> list[Agent]:
        names = list(models) or [None]
        if len(names) > MOST_MODELS:
            raise Invalid(f"At most {MOST_MODELS} models answer at once; nothing was asked.")
        context, info = self._context, session.info
        return [context.runtime.agent(AgentOptions(model=context.models.spec(name)), info) for name in names]

    def _start(self, store: ServedStore, agents: Sequence[Agent], work: Callable[[Listener, Stop], object]) -> str:
        """Run work in a thread; the id of its first turn, once that is open."""
        began: SimpleQueue[str | BaseException] = SimpleQueue()
        stop, turns = Stop(), dict[int, str]()

        def listen(index: int, event: Event) -> None:
            if isinstance(event, Began):
                turns[index] = event.turn
                self._running[store, event.turn] = stop
                began.put(event.turn)
            elif isinstance(event, Piece) and event.kind == "text" and index in turns:
                self._add(store, turns[index], event.text)

        def go() -> None:
            try:
                with store.in_use():
                    work(listen, stop)
            except BaseException as error:
                began.put(error)  # once the turn is open, it is in the turn
                if not isinstance(error, BoughError):
                    raise
            finally:
                for id in turns.values():
                    self._running.pop((store, id), None)
                for agent in agents:
                    with suppress(Exception):
                        agent.provider.close()
                self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=go, name="turn", daemon=True)
        self._threads.add(thread)
        thread.start()
        first = began.get(timeout=LONGEST)
        if isinstance(first, BaseException):
            raise first
        return first

    def _add(self, store: ServedStore, turn: str, text: str) -> None:
        with self._lock:
            self._count += 1
            self._deltas.append(Delta(self._count, store, turn, text))
