"""The agent loop: send a request, run the tool calls of the reply, repeat until a reply has no calls.

Every step is stored before the next begins. A run that a person stops is part of the dialog as far as it came. One that
ends early by a limit, an error or Ctrl+C leaves a turn that can be resumed.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from bough.agent.compaction import compact_if_due, compact_turn, context_window
from bough.agent.events import Answered, Began, Called, Compacted, Listener, Replied, ignore
from bough.agent.limits import Deadline, Reason, Stop
from bough.agent.resume import is_done, prepare_resume
from bough.agent.streaming import receive
from bough.agent.tool_calls import NOT_RUN, Job, result_message, results
from bough.agent.tools import Result, Toolbox
from bough.agent.types import Agent, Limits, Outcome
from bough.context.load import RESERVE
from bough.errors import ProviderError
from bough.model import Json, Message, Node, Tool, ToolCall, Usage
from bough.model.tokens import estimate_text
from bough.session import WAIT
from bough.storage.leases import LEASE

if TYPE_CHECKING:
    from bough.context.fit import Context
    from bough.providers.types import Answer
    from bough.session import Session
    from bough.store import Store
    from bough.turn import Turn

DAY = 86_400.0
"""Lease in seconds if tool calls have no time limit."""


def run(
    agent: Agent,
    session: Session,
    message: Message | str | None = None,
    *,
    resume: str | None = None,
    listener: Listener = ignore,
    stop: Stop | None = None,
    idempotency_key: str | None = None,
    metadata: dict[str, Json] | None = None,
    keep_instructions: bool = False,
    wait: float = WAIT,
    busy: Literal["raise", "fork"] = "raise",
) -> Outcome:
    """Run one turn of a session with an agent, from the user's message to the final reply.

    `resume` is the id of an incomplete turn to continue; a message is then added to it. `stop` ends the run from
    another thread; the turn is then stopped, and part of the dialog. A limit ends it with an interrupted turn. Both
    have a `reason`. Raises `ProviderError`, after the turn was marked as failed, and everything that `Session.turn`
    raises.
    """
    deadline = Deadline(agent.limits.seconds, stop)
    made = None if resume else compact_if_due(session, agent.provider, agent.compaction, agent.budget)
    if made is not None:
        listener(made)
        metadata = {**(metadata or {}), "compaction": compaction_metadata(made)}
    opened = session.turn(
        message if resume is None else None,
        resume=resume, idempotency_key=idempotency_key, model=agent.provider.model, provider=agent.provider.name,
        instructions=agent.instructions, keep_instructions=keep_instructions, metadata=metadata, wait=wait,
        lease=lease(agent.limits), busy=busy, spent=made.spent if made else None,
    )  # fmt: skip
    with opened as turn:
        listener(Began(turn.id))
        if resume is not None:
            prepare_resume(turn, message)
        compacts = agent.compaction.is_enabled and (made is None or made.error is None)
        reason = None if turn.repeated else play(agent, turn, deadline, listener, compacts)
    return outcome(turn, reason)


def regenerate(
    agent: Agent,
    session: Session,
    at: str | None = None,
    *,
    listener: Listener = ignore,
    stop: Stop | None = None,
    idempotency_key: str | None = None,
    metadata: dict[str, Json] | None = None,
    keep_instructions: bool = False,
    wait: float = WAIT,
) -> Outcome:
    """Answer a question again with an agent: that of the message `at`, or the last one of the dialog.

    The answer takes the place of the former one, which stays as a branch. Everything else is as in `run`; raises what
    `Session.answer` raises. An answer that was cut off is resumed with `run(agent, session, resume=outcome.turn)`.
    """
    deadline = Deadline(agent.limits.seconds, stop)
    opened = session.answer(
        at, idempotency_key=idempotency_key, model=agent.provider.model, provider=agent.provider.name,
        instructions=agent.instructions, keep_instructions=keep_instructions, metadata=metadata, wait=wait,
        lease=lease(agent.limits),
    )  # fmt: skip
    with opened as turn:
        listener(Began(turn.id))
        reason = None
        if not turn.repeated:
            reason = play(agent, turn, deadline, listener, agent.compaction.is_enabled)
    return outcome(turn, reason)


def play(agent: Agent, turn: Turn, deadline: Deadline, listener: Listener, compacts: bool) -> Reason | None:
    """Run an open turn to the final reply, or to a limit, which ends it; the reason."""
    reason = Run(agent, turn, deadline, listener, compacts).go()
    if reason is not None:
        (turn.stop if deadline.by_user else turn.interrupt)(agent.limits.describe(reason))
    return reason


def compaction_metadata(made: Compacted) -> Json:
    """Metadata of a turn about its summary, with the summary's share of the usage."""
    spent = {name: getattr(made.spent, name) for name in Usage.__match_args__}
    return {"summary": made.id, "error": made.error, "usage": spent}


def lease(limits: Limits) -> float:
    """Lease in seconds, longer than any tool call. The death of the writer is detected without the lease."""
    return max(LEASE, DAY if limits.tool_seconds is None else 2 * limits.tool_seconds)


def outcome(turn: Turn, reason: Reason | None) -> Outcome:
    """The outcome of a turn that has ended."""
    return stored_outcome(turn.session.store, turn.id, reason)


def stored_outcome(store: Store, turn: str, reason: Reason | None = None) -> Outcome:
    """The outcome of a turn that has ended, from the store. Raises `NotFound`."""
    info = store.turn_info(turn)
    (last,) = store.path(info.last_id, last=1)
    message = last.message if last.role == "assistant" else None
    return Outcome(turn, last.id, info.status, reason, message, info.usage, info.error)


class Run:
    """One running turn."""

    def __init__(self, agent: Agent, turn: Turn, deadline: Deadline, listener: Listener, compacts: bool) -> None:
        self._agent = agent
        self._turn = turn
        self._deadline = deadline
        self._listener = listener
        self._toolbox = Toolbox(agent.tools)
        self._compacts = compacts

    def go(self) -> Reason | None:
        """Run to the final reply, or to a limit, whose reason is returned."""
        if is_done(self._turn.path(last=1)[-1]):
            return None
        steps = 0
        while not self._deadline.reason:
            replied = self._reply()
            if replied is None:
                break
            steps += 1
            calls = [call for node in replied for call in node.message.calls]
            if not calls:
                return None
            if steps == self._agent.limits.steps:
                self._turn.add([result_message(call, Result.failed(NOT_RUN)) for call in calls])
                return "steps"
            self._run_calls(calls, replied[-1].id)
        return self._deadline.reason

    def _reply(self) -> tuple[Node, ...] | None:
        """Request one reply and store it. None if the time ran out first. Raises `ProviderError`."""
        tools = self._toolbox.tools()
        request = self._request(tools)
        started = self._turn.session.store.clock()
        received = receive(self._turn, lambda: self._ask(request, tools), self._deadline, self._listener)
        if received is None:
            return None
        ids = self._turn.add(
            received.reply(),
            usage=None if received.usage == Usage() else received.usage,
            provider=self._agent.provider.name,
            request_id=received.request_id,
            started_at=started,
            first_token_at=received.first_token_at,
        )
        if not ids:
            raise ProviderError(f"{self._agent.provider.name} answered with nothing at all.", kind="refused")
        nodes = tuple(self._turn.session.store.get_messages(ids))
        self._listener(Replied(nodes))
        return nodes

    def _request(self, tools: Sequence[Tool]) -> Context:
        """The dialog so far, fitted to the context window, minus instructions, tools and reply."""
        agent, provider = self._agent, self._agent.provider
        budget = agent.budget or context_window(provider)
        reserved = 0 if budget is None else reserve(agent, tools, budget)
        dialect = getattr(provider, "dialect", None)  # one of a plugin may not have it
        request = self._turn.context(provider.format, budget, reserve=reserved, dialect=dialect)
        if not request.cut or not self._compacts or not self._turn.begun:
            return request
        made = compact_turn(self._turn, provider, agent.compaction, budget, reserved)
        if made is None:
            return request
        self._listener(made)
        if made.error is not None:
            self._compacts = False  # otherwise it would be tried again at every step
            if made.spent != Usage():
                self._turn.add([], usage=made.spent)
        return self._turn.context(provider.format, budget, reserve=reserved, dialect=dialect)

    def _ask(self, request: Context, tools: Sequence[Tool]) -> Answer:
        agent = self._agent
        return agent.provider.ask(
            request.payload,
            instructions=agent.instructions,
            tools=tools,
            max_tokens=agent.max_tokens,
            options=agent.options,
        )

    def _run_calls(self, calls: Sequence[ToolCall], message: str) -> None:
        """Run the calls of a reply. Every call gets a result, even if Ctrl+C interrupts."""
        limits, done = self._agent.limits, 0
        jobs = [Job(call, self._turn.session, message) for call in calls]
        for call in calls:
            self._listener(Called(call))
        try:
            for result in results(jobs, self._toolbox, self._deadline, limits.tool_seconds, limits.parallel):
                made = result_message(calls[done], result)
                (id_,) = self._turn.add(made)
                done += 1
                self._listener(Answered(id_, made.results[0]))
        except BaseException as problem:
            left = [result_message(job.call, job.now()) for job in jobs[done:]]
            if not isinstance(problem, Exception):
                self._turn.add(left)
            raise


def reserve(agent: Agent, tools: Sequence[Tool], budget: int) -> int:
    """Tokens of a budget to reserve for the instructions, the tools and the reply."""
    shown: list[Any] = [[tool.name, tool.description, tool.parameters] for tool in tools]
    needed = estimate_text(agent.instructions or "") + estimate_text(json.dumps(shown)) + (agent.max_tokens or 0)
    return min(max(needed, int(budget * RESERVE)), budget - 1)
