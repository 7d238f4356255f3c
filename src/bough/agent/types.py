"""Who acts, how far, and how it ended."""

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
    """How far a run may go in one turn."""

    steps: int | None = 50
    """How many times the model may be asked."""
    seconds: float | None = None
    tool_seconds: float | None = 600.0
    """How long one call of a tool may take."""
    parallel: int = 8
    """How many calls of one reply are at work at the same time."""

    def __post_init__(self) -> None:
        given = {"steps": self.steps, "seconds": self.seconds, "tool_seconds": self.tool_seconds}
        for name, most in given.items():
            if most is not None and most <= 0:
                raise Invalid(f"A limit of {most:g} {name} leaves nothing to do; None means no limit.")
        if self.parallel < 1:
            raise Invalid(f"At least one call must be at work, not {self.parallel}.")

    def describe(self, reason: Reason) -> str:
        """Why a run was ended, in words."""
        match reason:
            case "steps":
                return f"Stopped at the limit of {self.steps} steps."
            case "time":
                return f"Stopped at the limit of {self.seconds:g} seconds."
            case "stopped":
                return "Stopped by whoever asked for it."


@value
class Agent:
    """Who acts: a model, what it is told, what it may use and how far it may go."""

    provider: Provider
    name: str = "agent"
    description: str = ""
    """What it is for: a model that may call it reads this."""
    instructions: str | None = None
    tools: Sequence[Bound | ToolSource] = ()
    limits: Limits = Limits()
    budget: int | None = None
    """Tokens of one request; else the window of the model."""
    max_tokens: int | None = None
    """Tokens of one reply."""
    options: dict[str, Json] | None = None
    """What goes into every request as it is."""
    compaction: Compaction = Compaction()


@value
class Outcome:
    """How a run ended."""

    turn: str
    """The id of the turn; one that did not complete can be resumed by it."""
    last: str
    """The id of the newest message of the turn."""
    status: Status
    reason: Reason | None
    """Which limit ended it, if one did."""
    message: Message | None
    """The last message, if it is a reply."""
    usage: Usage
    """Of the whole turn."""

    @property
    def text(self) -> str:
        """What the model said last."""
        return self.message.text if self.message else ""
