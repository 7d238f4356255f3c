"""Branches: runs of messages, the ends of a tree, and what two dialogs have in common."""

from __future__ import annotations

from bough.model.nodes import Headline, Node
from bough.model.values import value


@value
class Segment:
    """A run of messages in an outline: the next one begins after a fork, or where a session has its head."""

    first: Headline
    last: Headline
    messages: int = 1
    """The number of messages, the first and the last included."""

    @property
    def id(self) -> str:
        """The id of its last message, which the segments after it follow."""
        return self.last.id

    @property
    def parent_id(self) -> str | None:
        """The id of the message before it, the last one of another segment."""
        return self.first.parent_id


@value
class Branch:
    """One end of the trees of a session, and where it leaves the dialog."""

    last: Headline
    """Its last message, with the time, the first words and the sessions that have their head there."""
    fork_id: str | None = None
    """The last message that it has in common with the dialog; None for a branch of another tree."""
    messages: int = 0
    """The number of messages after that one; 0 for the dialog itself."""

    @property
    def is_current(self) -> bool:
        """Whether the head of the session is its end."""
        return self.messages == 0


@value
class Comparison:
    """Two dialogs: their common beginning, and what each has after it."""

    common: tuple[Node, ...]
    a: tuple[Node, ...]
    b: tuple[Node, ...]

    @property
    def fork_id(self) -> str | None:
        """The id of the last common message; None if there is none."""
        return self.common[-1].id if self.common else None


@value
class PathWindow:
    """Some messages of a path, one after another."""

    nodes: tuple[Node, ...]
    start: int
    """The number of messages before them."""
    total: int
    """The number of messages of the path."""
