"""What a run tells whoever listens, while it happens. Everything told here is stored already, except pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from bough.model import Node, ToolCall, ToolResult, Usage
from bough.model.values import value

if TYPE_CHECKING:
    from bough.providers.types import Piece


@value
class Began:
    """The turn is open; if the run does not end well, it can be resumed by this id."""

    turn: str


@value
class Compacted:
    """The older turns were summed up, in this node; or could not be, and why. The run goes on in any case."""

    id: str | None
    error: str | None = None
    spent: Usage = Usage()
    """What the summary has cost; the turn that it was made for counts it."""


@value
class Replied:
    """A whole reply."""

    nodes: tuple[Node, ...]


@value
class Called:
    """A tool is about to be used."""

    call: ToolCall


@value
class Answered:
    """A tool has answered, or failed."""

    id: str
    result: ToolResult


Event: TypeAlias = "Piece | Began | Compacted | Replied | Called | Answered"
Listener: TypeAlias = Callable[[Event], object]


def ignore(_: Event) -> None:
    """Listens to nothing."""
