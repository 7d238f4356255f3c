"""Types of the exporters: the conversation that they receive, and their protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Protocol

from bough.model import Block, Media, Node, Other, SessionInfo, TurnInfo, Usage
from bough.model.values import value


class ExportedConversation:
    """A tree of messages, with the head of the dialog that comes first."""

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
        """Depth first, parents before children."""
        self.head = head
        self.turns = turns
        self.sessions = sessions
        """The sessions whose heads are in the tree."""

    @cached_property
    def by_id(self) -> dict[str, Node]:
        return {node.id: node for node in self.nodes}

    @cached_property
    def children(self) -> dict[str | None, list[Node]]:
        """The children of each message, oldest first; the root under None."""
        found: dict[str | None, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(node.parent_id if node.parent_id in self.by_id else None, []).append(node)
        return found

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each message among its siblings, from 1."""
        return {node.id: place for beside in self.children.values() for place, node in enumerate(beside, start=1)}

    @cached_property
    def path(self) -> list[Node]:
        """The dialog up to the head."""
        nodes, at = [], self.by_id.get(self.head)
        while at is not None:
            nodes.append(at)
            at = self.by_id.get(at.parent_id or "")
        return nodes[::-1]

    @cached_property
    def leaves(self) -> list[Node]:
        return [node for node in self.nodes if node.id not in self.children]

    @cached_property
    def tools(self) -> dict[str, str]:
        """Tool names by the ids of tool calls."""
        return {call.call_id: call.name for node in self.nodes for call in node.message.calls}

    @cached_property
    def usage(self) -> Usage:
        """The usage of all turns."""
        return sum((turn.usage for turn in self.turns.values()), Usage())

    @cached_property
    def models(self) -> list[str]:
        return sorted({turn.model for turn in self.turns.values() if turn.model})

    def branch_start(self, leaf: Node) -> Node:
        """The first message that only this branch contains; the root if there is only one branch."""
        at = leaf
        while (parent := self.by_id.get(at.parent_id or "")) is not None and len(self.children[parent.id]) == 1:
            at = parent
        return at

    def turn_ending_at(self, node: Node) -> TurnInfo | None:
        """The turn that ends with this message."""
        turn = self.turns.get(node.turn_id or "")
        return turn if turn is not None and turn.last_id == node.id else None


@value
class MessageHeading:
    """The heading of a message: speaker, time and notes."""

    speaker: str
    time: str
    notes: tuple[str, ...] = ()


class Exporter(Protocol):
    """Writes a conversation in one format."""

    extension: str
    """The extension of its files, without a dot."""

    def write(self, conversation: ExportedConversation) -> Iterator[str]:
        """The pieces of the file, in order."""


def describe(part: Block) -> str:
    """One line that describes a block that cannot be shown."""
    if isinstance(part, Media):
        size = "" if part.data is None else f", {len(part.data):,} bytes"
        return f"{part.kind} {part.name or part.url or part.file_id or ''}".strip() + f" ({part.mime}{size})"
    return part.type if isinstance(part, Other) else type(part).__name__.lower()
