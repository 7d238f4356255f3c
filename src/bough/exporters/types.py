"""What every exporter is given: a conversation with all its branches, as values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Protocol

from bough.model import Block, Media, Node, Other, SessionInfo, TurnInfo, Usage
from bough.model.values import value


class Exported:
    """One tree of messages, and the message whose dialog is told first."""

    def __init__(
        self,
        title: str,
        nodes: list[Node],
        head: str,
        turns: Mapping[str, TurnInfo],
        sessions: tuple[SessionInfo, ...] = (),
    ) -> None:
        self.title = title
        self.nodes = nodes
        """Parents before children, every branch from its beginning to its end."""
        self.head = head
        self.turns = turns
        self.sessions = sessions
        """Those that stand in it."""

    @cached_property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def children(self) -> dict[str | None, list[Node]]:
        """What follows each message, oldest first; the root under None."""
        found: dict[str | None, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.parent_id if node.parent_id in self.by_id else None, []).append(node)
        return found

    @cached_property
    def path(self) -> list[Node]:
        """The dialog that leads to the head."""
        walked, at = [], self.by_id.get(self.head)
        while at is not None:
            walked.append(at)
            at = self.by_id.get(at.parent_id or "")
        return walked[::-1]

    @cached_property
    def leaves(self) -> list[Node]:
        return [node for node in self.nodes if node.id not in self.children]

    @cached_property
    def tools(self) -> dict[str, str]:
        """The names of the tools, by the ids of their calls."""
        return {call.call_id: call.name for node in self.nodes for call in node.message.calls}

    @cached_property
    def usage(self) -> Usage:
        """What all its turns have cost."""
        return sum((turn.usage for turn in self.turns.values()), Usage())

    @cached_property
    def models(self) -> list[str]:
        return sorted({turn.model for turn in self.turns.values() if turn.model})

    def beginning(self, leaf: Node) -> Node:
        """The first message that is on this branch alone; the root where there are no others."""
        at = leaf
        while (parent := self.by_id.get(at.parent_id or "")) is not None and len(self.children[parent.id]) == 1:
            at = parent
        return at

    def closing(self, node: Node) -> TurnInfo | None:
        """The turn that ends with this message."""
        turn = self.turns.get(node.turn_id or "")
        return turn if turn is not None and turn.last_id == node.id else None


@value
class Mark:
    """What stands at the head of a message: who speaks, when, and what is to be known of it."""

    who: str
    when: str
    notes: tuple[str, ...] = ()


class Exporter(Protocol):
    """Writes a conversation for people, or for another program."""

    extension: str

    def write(self, told: Exported) -> Iterator[str]:
        """The file, a piece at a time."""


def described(part: Block) -> str:
    """One line that says what a block is, where it cannot be shown."""
    if isinstance(part, Media):
        size = "" if part.data is None else f", {len(part.data):,} bytes"
        return f"{part.kind} {part.name or part.url or part.file_id or ''}".strip() + f" ({part.mime}{size})"
    return part.type if isinstance(part, Other) else type(part).__name__.lower()
