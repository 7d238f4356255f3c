"""Agents, their limits, and outcomes of runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.agent.compaction import Compaction
from bough.agent.limits import Reason
from bough.agent.tools import Bound, ToolSource
from bough.errors import Invalid
from bough.model import Json, Message, Status, Usage
from bough.model.values import value

if TYPE_CHECKING:
    from bough.providers.types import Provider


@value
class Limits:
    """Limits of one run. Raises `Invalid` for limits that allow nothing."""

    steps: int | None = 50
    """Maximum number of requests."""
    seconds: float | None = None
    tool_seconds: float | None = 600.0
    """Time limit of one tool call."""
    parallel: int = 8
    """Number of calls of one reply that run at the same time."""

    def __post_init__(self) -> None:
        given = {"steps": self.steps, "seconds": self.seconds, "tool_seconds": self.tool_seconds}
        for name, most in given.items():
            if most is not None and most <= 0:
                raise Invalid(f"A limit of {most:g} {name} leaves nothing to do; None means no limit.")
        if self.parallel < 1:
            raise Invalid(f"At least one call must be at work, not {self.parallel}.")

    def describe(self, reason: Reason) -> str:
        """Text for the reason why a run ended."""
        match reason:
            case "steps":
                return f"Stopped at the limit of {self.steps} steps."
            case "time":
                return f"Stopped at the limit of {self.seconds:g} seconds."
            case "stopped":
                return "Stopped before the reply was complete."


@value
class Agent:
    """An agent: a model with instructions, tools and limits."""

    provider: Provider
    name: str = "agent"
    description: str = ""
    """Its purpose, for a model that may call it as a subagent."""
    instructions: str | None = None
    tools: Sequence[Bound | ToolSource] = ()
    limits: Limits = Limits()
    budget: int | None = None
    """Tokens of one request; the context window of the model if None."""
    max_tokens: int | None = None
    """Tokens of one reply."""
    options: dict[str, Json] | None = None
    """Fields that are added to every request unchanged."""
    compaction: Compaction = Compaction()


@value
class Outcome:
    """Result of a run."""

    turn: str
    """Id of the turn, by which an incomplete one can be resumed."""
    last: str
    """Id of the newest message of the turn."""
    status: Status
    reason: Reason | None
    """The limit that ended it, if any."""
    message: Message | None
    """The last message, if it is a reply."""
    usage: Usage
    """Usage of the whole turn."""
    error: str | None = None
    """Why the turn failed, or was interrupted or stopped."""

    @property
    def text(self) -> str:
        """Text of the last reply."""
        return self.message.text if self.message else ""
