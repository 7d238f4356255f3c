"""Trees of nodes that are already loaded. Nothing here recurses: a conversation may be 100,000 messages deep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bough.model import Node


class Tree:
    """A node and what follows it. `latest` is the time of the newest node in it."""

    __slots__ = ("children", "latest", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.children: list[Tree] = []
        self.latest = node.created_at

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
        for _, tree in self.walk():
            if not tree.children:
                yield tree.node


def grow(nodes: Iterable[Node]) -> list[Tree]:
    """The trees that these nodes form, and the branches in them, the most recently active last.

    Parents come before their children. A node whose parent is not among them begins a tree.
    """
    trees = {node.id: Tree(node) for node in nodes}
    roots = []
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
