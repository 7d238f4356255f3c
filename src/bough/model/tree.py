"""Trees of loaded nodes. No function recurses: a conversation may be 100,000 messages deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from bough.model import Headline, Node, ToolCall
from bough.model.branches import Segment

P = TypeVar("P", Node, Headline, Segment)


class Tree(Generic[P]):
    """A node, a headline or a segment with its subtrees. `newest` is the last one to arrive, and `latest` its place."""

    __slots__ = ("children", "latest", "newest", "node")

    def __init__(self, node: P, place: int = 0) -> None:
        self.node: P = node
        self.children: list[Tree[P]] = []
        self.newest: P = node
        self.latest = place

    def __repr__(self) -> str:
        return f"<Tree {self.node.id} with {len(self.children)} children>"

    def walk(self) -> Iterator[tuple[int, Tree[P]]]:
        """Every tree in this one with its depth, parents first."""
        stack = [(0, self)]
        while stack:
            depth, tree = stack.pop()
            yield depth, tree
            stack.extend((depth + 1, child) for child in reversed(tree.children))

    def branches(self) -> Iterator[tuple[int, Tree[P]]]:
        """Like `walk`, with a depth that grows only at branches, for drawing."""
        stack = [(0, self)]
        while stack:
            depth, tree = stack.pop()
            yield depth, tree
            deeper = depth + 1 if len(tree.children) > 1 else depth
            stack.extend((deeper, child) for child in reversed(tree.children))

    def leaves(self) -> Iterator[P]:
        """The nodes without children."""
        for _, tree in self.walk():
            if not tree.children:
                yield tree.node


def grow(nodes: Iterable[P]) -> list[Tree[P]]:
    """Build trees from nodes; trees and branches are sorted by last activity, the most recent last.

    The nodes must be in order of arrival, parents before children. A node whose parent is not among them is a root.
    """
    trees: dict[str, Tree[P]] = {node.id: Tree(node, place) for place, node in enumerate(nodes)}
    roots: list[Tree[P]] = []
    for tree in trees.values():
        parent = trees.get(tree.node.parent_id or "")
        (parent.children if parent else roots).append(tree)
    for tree in reversed(trees.values()):
        parent = trees.get(tree.node.parent_id or "")
        if parent and parent.latest < tree.latest:
            parent.latest, parent.newest = tree.latest, tree.newest
    roots.sort(key=_latest)
    for tree in trees.values():
        if len(tree.children) > 1:
            tree.children.sort(key=_latest)
    return roots


def _latest(tree: Tree[P]) -> int:
    return tree.latest


def turn_starts(path: Sequence[Node]) -> list[Node]:
    """The first node of every turn on a path. Outside turns, each user message starts one.

    A turn that answers a question of another one goes with that.
    """
    starts = []
    for place, node in enumerate(path):
        if node.kind == "summary":
            continue
        begins = node.role == "user" if node.turn_id is None else node.turn_id == node.id
        if begins and node.role != "user" and place and path[place - 1].role == "user":
            begins = path[place - 1].kind == "summary"
        if begins or place == 0:
            starts.append(node)
    return starts


def pending_calls(path: Sequence[Node]) -> list[ToolCall] | None:
    """The calls of the last reply on a path that have no result; None if no reply is among these nodes."""
    answered: set[str] = set()
    for node in reversed(path):
        answered |= {result.call_id for result in node.message.results}
        if node.role == "assistant":
            return [call for call in node.message.calls if call.call_id not in answered]
    return None
