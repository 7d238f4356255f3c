"""Turns that this process runs: an agent, or several at once, in a thread, and the events that it sends."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

from bough.agent.events import Answered, Began, Called, Compacted, Replied
from bough.agent.limits import Stop
from bough.agent.loop import regenerate, run, stored_outcome
from bough.agent.several import run_several
from bough.errors import BoughError
from bough.model.values import asdict, value
from bough.providers.types import Piece
from bough.server.api.wire import node_json
from bough.server.deltas import delta
from bough.server.event_log import EventLog
from bough.server.problems import of_error
from bough.server.running import CANCEL

if TYPE_CHECKING:
    from bough.agent import Agent
    from bough.agent.events import Event
    from bough.agent.types import Outcome
    from bough.model import Message
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore
    from bough.session import Session

POLL = 1.0
"""Seconds between two looks whether another process asks for an end."""
KEPT = 60.0
"""Seconds that the events of a turn can be asked for after its end."""
ENDING = 3.0
"""Seconds that turns have to be interrupted when the server stops."""
Publish: TypeAlias = Callable[[str, dict[str, Any]], None]


@value
class Question:
    """What is asked, in which session."""

    session: Session
    message: Message | None = None
    at: str | None = None
    """Answer the question of this message again."""
    is_again: bool = False
    """Whether an existing question is answered again; without `at`, the last one."""
    resume: str | None = None
    idempotency_key: str | None = None


class TurnRun:
    """One question that this process answers. `log` has its events; `accepted` is done when the turn is open."""

    def __init__(self, agents: Sequence[Agent], question: Question, publish: Publish) -> None:
        self.turns: dict[int, str] = {}
        """The ids of the turns by the index of their agents."""
        self.log = EventLog()
        self.stop = Stop()
        self.question = question
        self.agents = agents
        loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[None] = loop.create_future()
        self.finished: asyncio.Future[dict[str, Any]] = loop.create_future()
        for future in (self.accepted, self.finished):
            future.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._loop = loop
        self._publish = publish
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._run, name="turn", daemon=True).start()

    # In the threads of the agents -----------------------------------------------------------------------------------

    def _run(self) -> None:
        key = self.question.session.key
        try:
            outcomes = self._ask()
            made = {"session": key, "head": self._head(), "turns": [self._ended(one) for one in outcomes]}
        except Exception as error:
            if not self.turns:
                self._settle(self.accepted, error)
            made = {"session": key, "head": self._head(), "turns": self._after(error)}
        self._settle(self.accepted, None)
        self._send("end", made)
        self._settle(self.finished, made)
        self.log.close()

    def _ask(self) -> Sequence[Outcome]:
        question, session = self.question, self.question.session
        if len(self.agents) > 1:
            return run_several(
                self.agents, session, question.message, at=question.at, listener=self._heard, stop=self.stop,
                idempotency_key=question.idempotency_key, wait=0,
            )  # fmt: skip
        (agent,) = self.agents

        def listener(event: Event) -> None:
            self._heard(0, event)

        if question.is_again:
            return [regenerate(agent, session, question.at, listener=listener, stop=self.stop,
                               idempotency_key=question.idempotency_key, wait=0)]  # fmt: skip
        return [run(agent, session, question.message, resume=question.resume, listener=listener, stop=self.stop,
                    idempotency_key=question.idempotency_key, wait=0)]  # fmt: skip

    def _heard(self, index: int, event: Event) -> None:
        about: dict[str, Any] = {"session": self.question.session.key, "turn": self.turns.get(index), "index": index}
        match event:
            case Began():
                self.turns[index] = event.turn
                model = f"{self.agents[index].provider.name}:{self.agents[index].provider.model}"
                self._send("turn.started", {**about, "turn": event.turn, "model": model})
                self._settle(self.accepted, None)
            case Piece():
                made = delta(event, self.question.session.key, self.turns.get(index), index)
                self._send("turn.delta", made)
                self._publish("turn.delta", made)
            case Replied():
                for node in event.nodes:
                    self._send("message.added", {**about, "message": node_json(node)})
            case Called():
                self._send("tool.called", {**about, "call_id": event.call.call_id, "name": event.call.name})
            case Answered():
                called = {"call_id": event.result.call_id, "error": event.result.error, "message_id": event.id}
                self._send("tool.answered", {**about, **called})
            case Compacted():
                self._send("turn.compacted", {**about, "summary": event.id, "error": event.error})

    def _ended(self, outcome: Outcome) -> dict[str, Any]:
        """Sends how a turn ended."""
        index = next((place for place, id in self.turns.items() if id == outcome.turn), 0)
        made = {
            "turn": outcome.turn, "index": index, "status": outcome.status, "last": outcome.last,
            "reason": outcome.reason, "error": outcome.error, "usage": asdict(outcome.usage), "text": outcome.text,
        }  # fmt: skip
        self.turns.setdefault(index, outcome.turn)
        topic = "turn.done" if outcome.status in ("complete", "stopped") else "turn.failed"
        self._send(topic, {"session": self.question.session.key, **made})
        return made

    def _after(self, error: Exception) -> list[dict[str, Any]]:
        """Sends how the turns of a run ended that an error has broken."""
        problem, found = of_error(error), []
        for index, id in self.turns.items():
            with suppress(BoughError):
                found.append({**self._ended(stored_outcome(self.question.session.store, id)), "code": problem.code})
                continue
            made = {"turn": id, "index": index, "status": "failed", "error": problem.detail, "code": problem.code}
            self._send("turn.failed", {"session": self.question.session.key, **made})
            found.append(made)
        return found

    def _head(self) -> str | None:
        with suppress(BoughError):
            return self.question.session.head
        return None

    def _send(self, topic: str, data: dict[str, Any]) -> None:
        with self._lock:
            number = len(self.log.frames) + 1
            text = json.dumps(data)
            self.log.append(f"id: {number}\nevent: {topic}\ndata: {text}\n\n".encode("ascii"))

    def _settle(self, future: asyncio.Future[Any], result: Any) -> None:
        def settle() -> None:
            if not future.done():
                future.set_exception(result) if isinstance(result, Exception) else future.set_result(result)

        with suppress(RuntimeError):  # the loop has ended: nobody waits
            self._loop.call_soon_threadsafe(settle)


class TurnRuns:
    """The turns that this process runs, by their ids and by the keys of their requests."""

    def __init__(self) -> None:
        self._all: set[tuple[ServedStore, TurnRun]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, store: ServedStore, id: str) -> TurnRun | None:
        """The run of a turn."""
        return next((run for of, run in self._all if of is store and id in run.turns.values()), None)

    def repeated(self, store: ServedStore, key: str | None) -> TurnRun | None:
        """The run that a request with this idempotency key began, until it ends: then the store recognises the key."""
        running = (run for of, run in self._all if of is store and not run.finished.done())
        return None if key is None else next((run for run in running if run.question.idempotency_key == key), None)

    def start(self, store: ServedStore, run: TurnRun, context: ServerContext) -> None:
        """Begin a run, and watch over it until it ends."""
        self._all.add((store, run))
        task = asyncio.create_task(self._attend(store, run, context))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        run.start()

    async def _attend(self, store: ServedStore, run: TurnRun, context: ServerContext) -> None:
        with store.in_use():
            try:
                while not run.finished.done():
                    with suppress(TimeoutError):
                        await asyncio.wait_for(asyncio.shield(run.finished), POLL)
                    if not run.finished.done() and await store.call(is_cancelled, list(run.turns.values())):
                        run.stop.set()
                for info in await store.call(infos, list(run.turns.values())):
                    context.metrics.count_tokens(info.model or "", info.usage)
            finally:
                # A client that lost its connection at the end asks for the rest.
                asyncio.get_running_loop().call_later(KEPT, self._all.discard, (store, run))

    async def close(self) -> None:
        """Interrupt all turns: they can be resumed."""
        for _, one in self._all:
            one.stop.set(by_user=False)
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=ENDING)


def infos(store: Any, ids: Sequence[str]) -> list[Any]:
    """The records of these turns, without those that are not stored."""
    found = []
    for id in ids:
        with suppress(BoughError):
            found.append(store.turn_info(id))
    return found


def is_cancelled(store: Any, ids: Sequence[str]) -> bool:
    """Whether another process has asked for the end of one of these turns."""
    return any(isinstance(info.metadata, dict) and info.metadata.get(CANCEL) for info in infos(store, ids))
