"""Trees of nodes that are already loaded. Nothing here recurses: a conversation may be 100,000 messages deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from bough.model import Headline, Node

P = TypeVar("P", Node, Headline)


class Tree(Generic[P]):
    """A node or a headline, and what follows it. `newest` came last of all in it, at the place `latest`."""

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
        """As `walk`, but the depth grows only where the conversation really branches: the drawing order."""
        stack = [(0, self)]
        while stack:
            depth, tree = stack.pop()
            yield depth, tree
            deeper = depth + 1 if len(tree.children) > 1 else depth
            stack.extend((deeper, child) for child in reversed(tree.children))

    def leaves(self) -> Iterator[P]:
        """Where the conversation could go on."""
        for _, tree in self.walk():
            if not tree.children:
                yield tree.node


def grow(nodes: Iterable[P]) -> list[Tree[P]]:
    """The trees that these nodes form, and the branches in them, the most recently active last.

    The nodes come in the order of their arrival, parents before their children. A node whose parent is not among them
    begins a tree.
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
    """The first node of every turn on a path. Outside turns, each message of the user begins one."""
    starts = []
    for place, node in enumerate(path):
        if node.kind == "summary":
            continue
        begins = node.role == "user" if node.turn_id is None else node.turn_id == node.id
        if begins or place == 0:
            starts.append(node)
    return starts


def old_part(path: Sequence[Node], keep_turns: int) -> list[Node]:
    """What a summary of this path has to speak for: its last summary and what followed, less the newest turns."""
    summary = next((node for node in reversed(path) if node.kind == "summary"), None)
    places = {node.id: place for place, node in enumerate(path)}
    first = places[summary.covers] + 1 if summary and summary.covers in places else 0
    rest = [node for node in path[first:] if node.kind == "message"]
    starts = turn_starts(rest)
    if len(starts) <= keep_turns:
        return []
    newer = rest.index(starts[-keep_turns])
    return [*([summary] if summary else []), *rest[:newer]]
