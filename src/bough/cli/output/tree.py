"""Trees as text: one line `ID (YYYY-MM-DD HH:MM) [ROLE] first words…` per message, indented at branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from bough.cli.output.console import columns, on_terminal, styled
from bough.cli.output.text import one_line, plain_line, pluralize, truncate, width
from bough.cli.output.times import to_minute
from bough.model import Headline
from bough.model.tree import Tree

LEAF = "------"
MIN_WORDS = 20
"""Cells that the words of a message always have."""
MAX_INDENT = 48
"""The maximum indentation in cells; deeper branches are not indented further."""
EDGE = 3
"""Messages that are kept at both ends of a run without branches when its middle is folded."""
COLOURS = {"user": "green", "assistant": "cyan", "tool_result": "dim", "system": "yellow"}


class TreeRow(NamedTuple):
    """A message of a drawn tree, with the prefix of its own line and of the lines below it."""

    prefix: str
    below: str
    tree: Tree[Headline]


def tree_lines(trees: Iterable[Tree[Headline]], here: str | None = None, *, fold: bool = False) -> Iterator[str]:
    """The lines of `trees`, with the message `here` marked. `fold` omits the middle of long runs without branches."""
    room = columns()
    for tree in trees:
        rows = list(tree_rows(tree, on_terminal()))
        hidden = foldable(rows) if fold else set()
        for number, row in enumerate(rows):
            if number in hidden:
                if number - 1 not in hidden:
                    count = next(end for end in range(number, len(rows)) if end not in hidden) - number
                    yield styled(f"{row.below}  ⋮ {pluralize(count, 'message')} (--full)", "dim")
                continue
            yield _line(row, room, here)
            if not row.tree.children:
                yield styled(row.below + LEAF, "dim")


def tree_rows(tree: Tree[Headline], boxes: bool) -> Iterator[TreeRow]:
    """The messages of a tree in drawing order; `boxes` draws the branches with lines."""
    stack = [TreeRow("", "", tree)]
    while stack:
        row = stack.pop()
        yield row
        below, children = row.below, row.tree.children
        if len(children) == 1:
            stack.append(TreeRow(below, below, children[0]))
            continue
        for number, child in enumerate(reversed(children)):
            joint, line = "    ", "    "
            if boxes:
                joint, line = ("╰── ", "    ") if number == 0 else ("├── ", "│   ")
            stack.append(TreeRow(below + joint, below + line if len(below) < MAX_INDENT else below, child))


def foldable(rows: list[TreeRow]) -> set[int]:
    """The positions of rows that are far from branches, leaves, annotated messages and heads of sessions."""
    fixed = [
        number
        for number, (_, _, tree) in enumerate(rows)
        if len(tree.children) != 1 or number == 0 or annotations_of(tree) or tree.node.sessions
    ]
    found: set[int] = set()
    for start, end in pairwise(fixed):
        middle = range(start + EDGE, end - EDGE + 1)
        found |= set(middle) if len(middle) > 1 else set()
    return found


def _line(row: TreeRow, room: int, here: str | None) -> str:
    node, role = row.tree.node, f"[{row.tree.node.role.upper()}]"
    time = to_minute(node.created_at)
    start = f"{row.prefix}{node.id} ({time}) {role} "
    before, after = "".join(f"{mark} " for mark in annotations_of(row.tree)), _sessions(node, here)
    words = truncate(plain_line(node.words), max(MIN_WORDS, room - width(start + before + after)))
    head = f"{styled(row.prefix, 'dim')}{styled(node.id, 'bold')} ({styled(time, 'dim')})"
    text = f"{styled(before, 'yellow')}{words}{styled(after, 'blue')}"
    return f"{head} {styled(role, COLOURS[node.role])} {text}".rstrip()


def annotations_of(tree: Tree[Headline]) -> list[str]:
    """Annotations of a message: a summary, the status of a turn that did not complete, its label."""
    node = tree.node
    found = ["[summary]"] if node.kind == "summary" else []
    continues = any(child.node.turn_id == node.turn_id for child in tree.children)
    if node.status not in (None, "complete") and not continues:
        found.append(f"[{node.status}]")
    return found + ([f"#{one_line(node.label)}"] if node.label else [])


def _sessions(node: Headline, here: str | None) -> str:
    names = ["here"] * (node.id == here) + [one_line(key) for key in node.sessions]
    return " ← " + ", ".join(names) if names else ""
