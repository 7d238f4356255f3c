"""Trees on a screen: `ID (YYYY-MM-DD HH:MM) [ROLE] first words…`, indented where a conversation branches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

from bough.cli.output.console import columns, on_terminal, styled
from bough.cli.output.text import one_line, pluralize, truncate, width
from bough.cli.output.times import minute
from bough.model import Headline
from bough.model.tree import Tree

LEAF = "------"
NARROWEST = 20
DEEPEST = 48
"""Cells by which a line is indented at most; the branches of branches below are drawn one under the other."""
EDGE = 3
"""Messages that stay at both ends of a straight run when its middle is folded."""
COLOURS = {"user": "green", "assistant": "cyan", "tool_result": "dim", "system": "yellow"}


class Place(NamedTuple):
    """A message in a drawing, and what stands before its line and before the lines below it."""

    first: str
    rest: str
    tree: Tree[Headline]


def tree_lines(trees: Iterable[Tree[Headline]], here: str | None = None, *, fold: bool = False) -> Iterator[str]:
    """The lines of these trees; the message `here` is pointed at. `fold` leaves out the middle of long runs."""
    room = columns()
    for tree in trees:
        places = list(branches(tree, on_terminal()))
        hidden = foldable(places) if fold else set()
        for number, place in enumerate(places):
            if number in hidden:
                if number - 1 not in hidden:
                    count = next(end for end in range(number, len(places)) if end not in hidden) - number
                    yield styled(f"{place.rest}  ⋮ {pluralize(count, 'message')} (--full)", "dim")
                continue
            yield _line(place, room, here)
            if not place.tree.children:
                yield styled(place.rest + LEAF, "dim")


def branches(tree: Tree[Headline], boxes: bool) -> Iterator[Place]:
    """Every message in the drawing order."""
    stack = [Place("", "", tree)]
    while stack:
        place = stack.pop()
        yield place
        rest, children = place.rest, place.tree.children
        if len(children) == 1:
            stack.append(Place(rest, rest, children[0]))
            continue
        for number, child in enumerate(reversed(children)):
            joint, line = "    ", "    "
            if boxes:
                joint, line = ("╰── ", "    ") if number == 0 else ("├── ", "│   ")
            stack.append(Place(rest + joint, rest + line if len(rest) < DEEPEST else rest, child))


def foldable(places: list[Place]) -> set[int]:
    """Which places are far from a branch, a leaf and everything remarkable."""
    remarkable = [
        number
        for number, (_, _, tree) in enumerate(places)
        if len(tree.children) != 1 or number == 0 or marks(tree) or tree.node.sessions
    ]
    found: set[int] = set()
    for start, end in pairwise(remarkable):
        middle = range(start + EDGE, end - EDGE + 1)
        found |= set(middle) if len(middle) > 1 else set()
    return found


def _line(place: Place, room: int, here: str | None) -> str:
    node, role = place.tree.node, f"[{place.tree.node.role.upper()}]"
    when = minute(node.created_at)
    start = f"{place.first}{node.id} ({when}) {role} "
    before, after = "".join(f"{mark} " for mark in marks(place.tree)), _standing(node, here)
    words = truncate(one_line(node.words), max(NARROWEST, room - width(start + before + after)))
    where = f"{styled(place.first, 'dim')}{styled(node.id, 'bold')} ({styled(when, 'dim')})"
    said = f"{styled(before, 'yellow')}{words}{styled(after, 'blue')}"
    return f"{where} {styled(role, COLOURS[node.role])} {said}".rstrip()


def marks(tree: Tree[Headline]) -> list[str]:
    """What is special about a message: how its turn broke off, what it is called, whose it is."""
    node = tree.node
    found = ["[summary]"] if node.kind == "summary" else []
    goes_on = any(child.node.turn_id == node.turn_id for child in tree.children)
    if node.status not in (None, "complete") and not goes_on:
        found.append(f"[{node.status}]")
    return found + ([f"#{one_line(node.label)}"] if node.label else [])


def _standing(node: Headline, here: str | None) -> str:
    names = ["here"] * (node.id == here) + [one_line(key) for key in node.sessions]
    return " ← " + ", ".join(names) if names else ""
