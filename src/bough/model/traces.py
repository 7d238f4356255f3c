"""Traces: the work of a session with that of the subagents that worked for it."""

from __future__ import annotations

from collections.abc import Iterator

from bough.model.nodes import SessionInfo, TurnInfo
from bough.model.usage import Usage
from bough.model.values import value


@value
class Trace:
    """A session, its turns, and the traces of the sessions that work for it."""

    session: SessionInfo
    """Of a delegate, `parent_message_id` is the message that last called it; each turn has its own `caller_id`."""
    turns: tuple[TurnInfo, ...] = ()
    """All of them, oldest first, the unfinished ones included."""
    usage: Usage = Usage()
    """Of its own turns and summaries."""
    delegates: tuple[Trace, ...] = ()
    """In the order in which they were created."""

    @property
    def total(self) -> Usage:
        """Its usage with that of all its delegates."""
        return sum((trace.usage for _, trace in self.walk()), Usage())

    def walk(self) -> Iterator[tuple[int, Trace]]:
        """This trace and all below it with their depths, callers first."""
        stack = [(0, self)]
        while stack:
            depth, trace = stack.pop()
            yield depth, trace
            stack.extend((depth + 1, one) for one in reversed(trace.delegates))
