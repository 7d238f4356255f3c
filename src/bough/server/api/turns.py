"""Turns: asking models, following, cancelling and resuming what they answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response, StreamingResponse

from bough.errors import Busy, Conflict, NotFound
from bough.model import TurnInfo
from bough.model.ids import mint
from bough.model.nodes import STATUSES
from bough.model.values import asdict, replace, value
from bough.runtime.agents import Runtime
from bough.runtime.settings import AgentOptions
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.api.parsing import wrong
from bough.server.api.schemas import page_of
from bough.server.api.turn_runs import Question, TurnRun
from bough.server.api.wire import message_of, page_json
from bough.server.problems import HttpProblem
from bough.server.running import CANCEL
from bough.server.streams import STREAM, disconnected
from bough.storage import leases
from bough.storage.turns import completed

if TYPE_CHECKING:
    from bough.agent import Agent
    from bough.model import Message, SessionInfo
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore
    from bough.session import Session
    from bough.store import Store

CHANNEL = "api"
MOST_MODELS = 8


@value
class TurnRequest:
    """What a request asks: the place in the tree, the words, and who answers."""

    session: str | None
    at: str | None
    has_at: bool
    message: Message | None
    models: tuple[str | None, ...]
    agent: str | None
    system: str | None
    title: str | None
    resume: str | None = None
    key: str | None = None


async def ask(call: ApiCall) -> Response:
    """Ask a new question, or, without `input`, the one at `at` again."""
    models = tuple(call["models"] or ())
    if "model" in call and models:
        raise wrong("models", "Give either model or models; nothing was asked.")
    if len(models) > MOST_MODELS:
        raise wrong("models", f"At most {MOST_MODELS} models answer at a time; nothing was asked.")
    message = message_of(call["input"]) if call["input"] is not None else None
    if message is None and "at" not in call and "session" not in call:
        raise wrong("input", "Without input, `at` or `session` says which question is answered again.")
    asked = TurnRequest(
        call["session"], call["at"], "at" in call, message, models or (call["model"],), call["agent"], call["system"],
        call["title"], key=call.idempotency_key,
    )  # fmt: skip
    return await begin(call, asked)


async def resume(call: ApiCall) -> Response:
    """Continue a turn that was interrupted, or failed."""
    info = await call.store.turn_info(call["id"])
    if info.session is None:
        raise HttpProblem(409, "refused", f"The session of turn {info.id!r} was deleted; fork from a message instead.")
    message = message_of(call["input"]) if call["input"] is not None else None
    asked = TurnRequest(info.session, None, False, message, (call["model"],), call["agent"], None, None, info.id)
    return await begin(call, asked)


async def begin(call: ApiCall, asked: TurnRequest) -> Response:
    """Run a turn, and answer with its events, its result, or at once."""
    runs = call.context.api.turns
    running = runs.repeated(call.store, asked.key)
    if running is None:
        running = await start(call.context, call.store, call.access.tenant, asked)
    elif running.question.message != asked.message:
        raise HttpProblem(422, "idempotency-key-reused", "That Idempotency-Key belongs to another question; nothing "
                          "was asked. Send a new one.")  # fmt: skip
    try:
        await asyncio.shield(running.accepted)
    except Busy as error:
        raise HttpProblem(409, "session-busy", str(error), is_retryable=True) from None
    headers = {"Turn-Id": ",".join(running.turns.values())}
    if call["stream"] is not False:
        return StreamingResponse(follow(running, call), headers={**STREAM, **headers}, media_type="text/event-stream")
    if call["background"]:
        made = {"session": running.question.session.key, "turns": list(running.turns.values()), "status": "running"}
        return JSONResponse(made, 202, headers)
    try:
        return JSONResponse(await disconnected(call.request, running.finished), headers=headers)
    except BaseException:
        running.stop.set(by_user=False)
        raise


async def start(context: ServerContext, store: ServedStore, tenant: str | None, asked: TurnRequest) -> TurnRun:
    """Begin to run a turn. Raises what choosing its models and its place raises."""
    info = await store.call(standing, asked)
    agents = await asyncio.to_thread(agents_for, context, asked, info, tenant)
    question = await store.call(place, asked)
    feeds = context.api.feeds
    running = TurnRun(agents, question, lambda topic, data: feeds.publish(store, topic, data))
    context.api.turns.start(store, running, context)
    return running


async def stop(context: ServerContext, store: ServedStore, id: str) -> str:
    """Stop a turn, also of another process; its status, which may be `running` for a moment. Raises `HttpProblem`."""
    running = context.api.turns.find(store, id)
    if running is not None and not running.finished.done():
        running.stop.set()
        await asyncio.wait([running.finished], timeout=10)
        ended = running.finished.result()["turns"] if running.finished.done() else []
        return str(next((one["status"] for one in ended if one["turn"] == id), "running"))
    info = await store.turn_info(id)
    if info.status != "running":
        raise HttpProblem(409, "turn-ended", f"Turn {info.id!r} is {info.status}; there is nothing to stop.")
    await store.annotate_turn(info.id, {CANCEL: True})
    return "running"


async def follow(running: TurnRun, call: ApiCall) -> AsyncIterator[bytes]:
    """The events of a run. A client that goes away interrupts it, unless it is in the background."""
    try:
        async for frames in running.log.follow():
            yield frames
    finally:
        if not running.finished.done() and not call["background"]:
            running.stop.set(by_user=False)


def standing(store: Store, asked: TurnRequest) -> SessionInfo | None:
    """The session that a request names, or that it would continue. Raises `NotFound` for an unknown message."""
    if asked.at is not None:
        store.headlines([asked.at])
    if asked.session is not None:
        return store.find_session(asked.session)
    return next(iter(store.sessions_through(asked.at)), None) if asked.at is not None else None


def place(store: Store, asked: TurnRequest) -> Question:
    """The session that asks, moved or forked to the place that the request names."""
    again = asked.message is None and asked.resume is None
    session = session_for(store, asked, again)
    if asked.title is not None:
        session.update(title=asked.title)
    return Question(session, asked.message, asked.at if again else None, again, asked.resume, asked.key)


def session_for(store: Store, asked: TurnRequest, again: bool) -> Session:
    own_key = f"{CHANNEL}:{sha256(repr((asked.key, asked.at)).encode()).hexdigest()[:12]}" if asked.key else None
    if asked.session is None and asked.at is not None:
        through = store.sessions_through(asked.at)
        own = next((info for info in through if again or info.head_id == asked.at), None)
        if own is not None:
            return store.session(own.key)
        try:
            return store.fork(asked.at, own_key or f"{CHANNEL}:{mint(12)}")
        except Conflict:  # the same request before has made it
            assert own_key is not None
            return store.session(own_key)
    if asked.session is None:
        return store.session(own_key or f"{CHANNEL}:{mint(12)}")
    if again or asked.resume is not None:
        if store.find_session(asked.session) is None:
            raise NotFound(f"There is no session {asked.session!r:.80}; nothing was asked.")
        return store.session(asked.session)
    session = store.session(asked.session)
    if asked.has_at and session.head != asked.at and not was_asked(session, asked.key):
        session.move(asked.at)
    return session


def was_asked(session: Session, key: str | None) -> bool:
    """Whether the session has a complete turn under this idempotency key."""
    if key is None:
        return False
    store, number = session.store, leases.session_state(session.store.db, session.key).n
    return store.write(lambda _: completed(store.db, number, key)) is not None


def agents_for(context: ServerContext, asked: TurnRequest, info: SessionInfo | None, tenant: str | None) -> list[Agent]:
    """The agents that answer. Raises `ProviderError`, `ConfigError` and `ToolError`."""
    runtime = runtime_for(context, tenant)
    own = runtime.settings(asked.agent).own.get("model") if asked.agent else None
    agents = []
    for name in asked.models:
        spec = context.models.spec(name or own or (info.model if info else None))
        agent = runtime.agent(AgentOptions(model=spec, agent=asked.agent, system=asked.system), info)
        agent.provider.close()
        agents.append(replace(agent, provider=context.models.find(spec)))
    return agents


def runtime_for(context: ServerContext, tenant: str | None) -> Runtime:
    """The agents of a caller: other namespaces than the server's own do not get the tools of its configuration."""
    return context.runtime if tenant is None else Runtime(context.config, servers=[])


async def turns(call: ApiCall) -> dict[str, Any]:
    """Turns, the newest first."""
    found = await call.store.turns(call["session"], status=call["status"], limit=call["limit"])
    return page_json(found, None)


async def turn(call: ApiCall) -> TurnInfo:
    """The record of a turn."""
    return await call.store.turn_info(call["id"])


async def turn_events(call: ApiCall) -> Response:
    """The events of a turn from a number on: while it runs here all of them, afterwards how it ended."""
    running = call.context.api.turns.find(call.store, call["id"])
    if running is not None:
        start = min(begin_after(call), len(running.log.frames))
        return StreamingResponse(running.log.follow(start), headers=STREAM, media_type="text/event-stream")
    info = await call.store.turn_info(call["id"])
    return StreamingResponse(stored_events(call, info), headers=STREAM, media_type="text/event-stream")


def begin_after(call: ApiCall) -> int:
    seen = call.request.headers.get("last-event-id", "")
    return int(seen) if seen.isdecimal() and len(seen) < 18 else call["after"]


async def stored_events(call: ApiCall, info: TurnInfo) -> AsyncIterator[bytes]:
    """The events of a turn that does not run here: what came of its reply so far, until it ends."""
    async with call.context.api.feeds.follow(call.store, info.session) as (subscriber, _):
        info = await call.store.turn_info(info.id)
        while info.status == "running" and not subscriber.is_closed and not call.context.stopping.is_set():
            for reply in await call.store.running_replies(info.session):
                if reply.turn_id == info.id:
                    yield frame("turn.sketch", {"turn": info.id, "blocks": asdict(reply.message.blocks)})
            await subscriber.wait()
            subscriber.take()
            info = await call.store.turn_info(info.id)
    topic = "turn.done" if info.status in ("complete", "stopped") else "turn.failed"
    yield frame(topic, {"session": info.session, "turn": info.id, "status": info.status, "last": info.last_id,
                        "error": info.error, "usage": asdict(info.usage)})  # fmt: skip


def frame(topic: str, data: dict[str, Any]) -> bytes:
    return f"event: {topic}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def cancel(call: ApiCall) -> dict[str, Any]:
    """Stop a turn: the question and what came of the answer stay in the dialog."""
    return {"turn": call["id"], "status": await stop(call.context, call.store, call["id"])}


STREAMED = (
    Field("stream", "boolean", "Whether the answer is a stream of events, or the result when all turns have ended.",
          default=True),
    Field("background", "boolean", "Whether the turn goes on when the client goes away; with `stream: false` the "
          "answer comes at once, with the ids of the turns.", default=False),
)  # fmt: skip
WORDS = Field("input", "any", "The question: a text, or a list of blocks.", is_nullable=True)
MODEL = Field("model", "string", "PROVIDER:MODEL, or an alias.", is_nullable=True)
AGENT = Field("agent", "string", "An agent of the configuration.", is_nullable=True)
OPERATIONS = (
    Operation("GET", "/turns", "listTurns", "List turns, the newest first.", turns, page_of(TurnInfo), query=(
        Field("session", "string", "Only of this session."),
        Field("status", "string", "Only those that ended like this.", choices=STATUSES),
        Field("limit", "integer", "At most so many.", default=100, least=1, most=1000),
    )),
    Operation("POST", "/turns", "ask", "Ask a model, or several at once; the answer is streamed as server-sent events.",
        ask, {"type": "string"}, scope="run", media_type="text/event-stream", remembers=True, body=(
        Field("session", "string", "The session that asks, found or made; without it and `at`, a new one."),
        Field("at", "string", "The message that the question follows: the session moves there; without a session, the "
              "one that stands there goes on, or a fork is made. null is before the first message. Without `input`, "
              "the question of this message is answered again.", is_nullable=True),
        WORDS, MODEL, Field("models", "list", "Several models that answer at the same time; each answer is a branch."),
        AGENT, Field("system", "string", "Instructions for this turn.", is_nullable=True),
        Field("title", "string", "The title of the session."), *STREAMED,
    )),
    Operation("GET", "/turns/{id}", "getTurn", "Read the record of a turn.", turn, TurnInfo),
    Operation("GET", "/turns/{id}/events", "followTurn", "Follow a turn, from any of its events on.", turn_events,
        {"type": "string"}, media_type="text/event-stream", query=(
        Field("after", "integer", "The number of the last event that was seen, where `Last-Event-ID` is not sent.",
              default=0, least=0),
    )),
    Operation("POST", "/turns/{id}/cancel", "cancelTurn", "Stop a turn; what came of the answer stays.", cancel,
        {"type": "object", "properties": {"turn": {"type": "string"}, "status": {"enum": list(STATUSES)}},
         "required": ["turn", "status"]}, scope="run"),
    Operation("POST", "/turns/{id}/resume", "resumeTurn", "Continue a turn that was interrupted or failed.", resume,
        {"type": "string"}, scope="run", media_type="text/event-stream", body=(WORDS, MODEL, AGENT, *STREAMED)),
)  # fmt: skip
