"""Trees of nodes that are already loaded. Nothing here recurses: a conversation may be 100,000 messages deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bough.model import Node


class Tree:
    """A node and what follows it. `latest` is the place, in the order of arrival, of the newest node in it."""

    __slots__ = ("children", "latest", "node")

    def __init__(self, node: Node, place: int = 0) -> None:
        self.node = node
        self.children: list[Tree] = []
        self.latest = place

    def __repr__(self) -> str:
        return f"<Tree {self.node.id} with {len(self.children)} children>"

    def walk(self) -> Iterator[tuple[int, Tree]]:
        """Every tree in this one with its depth, parents first."""
        stack = [(0, self)]
        while stack:
            depth, tree = stack.pop()
            yield depth, tree
            stack.extend((depth + 1, child) for child in reversed(tree.children))

    def branches(self) -> Iterator[tuple[int, Tree]]:
        """As `walk`, but the depth grows only where the conversation really branches: the drawing order."""
        stack = [(0, self)]
        while stack:
            depth, tree = stack.pop()
            yield depth, tree
            deeper = depth + 1 if len(tree.children) > 1 else depth
            stack.extend((deeper, child) for child in reversed(tree.children))

    def leaves(self) -> Iterator[Node]:
        """Where the conversation could go on."""
        for _, tree in self.walk():
            if not tree.children:
                yield tree.node


def grow(nodes: Iterable[Node]) -> list[Tree]:
    """The trees that these nodes form, and the branches in them, the most recently active last.

    The nodes come in the order of their arrival, parents before their children. A node whose parent is not among them
    begins a tree.
    """
    trees = {node.id: Tree(node, place) for place, node in enumerate(nodes)}
    roots: list[Tree] = []
    for tree in trees.values():
        parent = trees.get(tree.node.parent_id or "")
        (parent.children if parent else roots).append(tree)
    for tree in reversed(trees.values()):
        parent = trees.get(tree.node.parent_id or "")
        if parent:
            parent.latest = max(parent.latest, tree.latest)
    for siblings in (roots, *(tree.children for tree in trees.values() if len(tree.children) > 1)):
        siblings.sort(key=lambda tree: tree.latest)
    return roots


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
