"""Events of a run, for listeners. All except pieces are stored before they are reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from bough.model import Node, ToolCall, ToolResult, Usage
from bough.model.values import value

if TYPE_CHECKING:
    from bough.providers.types import Piece


@value
class Began:
    """The turn was opened. If the run is cut off, the turn can be resumed by this id."""

    turn: str


@value
class Compacted:
    """The older turns were summarized in node `id`, or `error` says why not. The run continues in both cases."""

    id: str | None
    error: str | None = None
    spent: Usage = Usage()
    """Usage of the summary, which is included in the usage of the turn."""


@value
class Replied:
    """A complete reply was stored."""

    nodes: tuple[Node, ...]


@value
class Called:
    """A tool is about to be called."""

    call: ToolCall


@value
class Answered:
    """The result of a tool call was stored."""

    id: str
    result: ToolResult


Event: TypeAlias = "Piece | Began | Compacted | Replied | Called | Answered"
Listener: TypeAlias = Callable[[Event], object]


def ignore(_: Event) -> None:
    """Listener that ignores all events."""
