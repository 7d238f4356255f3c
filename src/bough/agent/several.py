"""Ask several agents the same question at the same time: each answer is a turn of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from bough.agent.compaction import compact_if_due
from bough.agent.events import Began, Event
from bough.agent.limits import Deadline, Reason, Stop
from bough.agent.loop import lease, outcome, play
from bough.agent.types import Agent, Outcome
from bough.errors import Invalid
from bough.model import Json, Message
from bough.session import WAIT

if TYPE_CHECKING:
    from bough.session import Session
    from bough.turn import Turn

SeveralListener: TypeAlias = Callable[[int, Event], object]
"""Listener of several runs: it is called by their threads, with the index of the agent and the event."""
Choose: TypeAlias = Callable[[Sequence[Outcome]], int | None]
"""The index of the outcome that the dialog goes on with; None for the first whole one."""


def ignore_all(_: int, __: Event) -> None:
    """Listener that ignores all events."""


def run_several(
    agents: Sequence[Agent],
    session: Session,
    message: Message | str | None = None,
    *,
    at: str | None = None,
    listener: SeveralListener = ignore_all,
    stop: Stop | None = None,
    choose: Choose | None = None,
    idempotency_key: str | None = None,
    metadata: dict[str, Json] | None = None,
    keep_instructions: bool = False,
    wait: float = WAIT,
) -> list[Outcome]:
    """Ask several agents at the same time, a new question or an existing one; their outcomes, in the order of agents.

    The existing question is that of the message `at`, or the last one of the dialog. The dialog goes on with the
    answer that `choose` names, else with the first whole one; the others are branches, which `Session.move` goes to. An
    agent that fails has an outcome with the status `failed` and its `error`; the others go on. `stop` stops all of
    them. Raises what `Session.answers` raises.
    """
    if not agents:
        raise Invalid("At least one agent answers; nothing was asked.")
    stop, first = stop or Stop(), agents[0]
    deadlines = [Deadline(agent.limits.seconds, stop) for agent in agents]
    if message is not None:
        made = compact_if_due(session, first.provider, first.compaction, first.budget, charge=True)
        if made is not None:
            listener(0, made)
    opened = session.answers(
        [agent.provider.model for agent in agents], at, message=message,
        providers=[agent.provider.name for agent in agents], idempotency_key=idempotency_key,
        instructions=[agent.instructions for agent in agents], keep_instructions=keep_instructions,
        metadata=metadata, wait=wait, lease=max(lease(agent.limits) for agent in agents),
    )  # fmt: skip
    with opened as answers:
        runs = [
            OneOfSeveral(index, agent, turn, deadline, listener)
            for index, (agent, turn, deadline) in enumerate(zip(agents, answers, deadlines, strict=True))
        ]
        try:
            for run in runs:
                run.join()
        except BaseException:
            stop.set(by_user=False)
            for run in runs:
                run.join()
            raise
        outcomes = [outcome(run.turn, run.reason) for run in runs]
        named = choose(outcomes) if choose is not None else None
        if named is not None:
            if not 0 <= named < len(runs):
                raise Invalid(
                    f"`choose` gave {named}, which is no index of {len(runs)} answers; the first one is used."
                )
            answers.choose(answers[named])
    return outcomes


class OneOfSeveral(threading.Thread):
    """One agent that answers in a thread."""

    def __init__(
        self, index: int, agent: Agent, turn: Turn, deadline: Deadline, listener: SeveralListener
    ) -> None:  # fmt: skip
        super().__init__(name=f"answer {index}", daemon=True)
        self.turn = turn
        self.reason: Reason | None = None
        self._index = index
        self._agent = agent
        self._deadline = deadline
        self._listener = listener
        self.start()

    def run(self) -> None:
        """Run the turn. An error is in the turn, which has failed."""

        def listener(event: Event) -> None:
            self._listener(self._index, event)

        try:
            with self.turn:
                listener(Began(self.turn.id))
                compacts = self._agent.compaction.is_enabled
                self.reason = play(self._agent, self.turn, self._deadline, listener, compacts)
        except Exception:
            if self.turn.status == "running":  # it could not be ended either: the caller reports that
                raise
