"""The middle pane: the tree of the chosen conversation, with folds and filters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from rich.text import Text

from bough.cli.browser.lines import LinesView
from bough.cli.output.text import one_line, plain_line, pluralize, truncate
from bough.cli.output.tree import annotations_of, tree_rows
from bough.model import Headline
from bough.model.tree import Tree
from bough.model.values import value

if TYPE_CHECKING:
    from bough.model.previews import SessionPreview

Filter: TypeAlias = Literal["everything", "questions", "labels"]
FILTERS: tuple[Filter, ...] = get_args(Filter)
MARKS = {"user": ("›", "green"), "assistant": ("·", "cyan"), "tool_result": ("↳", "blue"), "system": ("!", "yellow")}


@value
class TreeLine:
    """A row of the pane: a message with what is folded below it."""

    prefix: str
    node: Headline
    folded: int = 0
    """Messages that are hidden below it."""
    runs: int = 0
    """Subagents that are hidden below it."""


def runs_by_message(previews: Iterable[SessionPreview]) -> dict[str, list[Headline]]:
    """A headline for each run of a subagent in a session of its own, by the message that started it, or ""."""
    found: dict[str, list[Headline]] = {}
    for one in previews:
        if one.last is None:
            continue
        name = one.info.agent or one.info.key.rpartition(":")[2]
        question = plain_line(one.question.words) if one.question else ""
        words = f"⚙ {name}: {question} ({pluralize(one.messages, 'message')})"
        started_by = one.info.parent_message_id or ""
        run = Headline(one.last.id, started_by, one.last.created_at, "assistant", words, label=f"subagent:{name}")
        found.setdefault(started_by, []).append(run)
    return found


def lines_of(
    root: Tree[Headline], runs: dict[str, list[Headline]], folded: set[str], unfolded: set[str], shown: Filter
) -> list[TreeLine]:
    """The rows of a tree. `folded` are messages with nothing below them, `unfolded` those that show their subagents."""
    counts: dict[str, tuple[int, int]] = {}
    drawn = pruned(root, runs, folded, unfolded, shown, counts)
    return [
        TreeLine(row.prefix, row.tree.node, *counts.get(row.tree.node.id, (0, 0))) for row in tree_rows(drawn, True)
    ]


def pruned(
    root: Tree[Headline],
    runs: dict[str, list[Headline]],
    folded: set[str],
    unfolded: set[str],
    shown: Filter,
    counts: dict[str, tuple[int, int]],
) -> Tree[Headline]:
    """The tree without what is folded or filtered out; `counts` gets what is hidden below each message."""
    top = Tree(root.node)
    stack = [(root, top)]
    while stack:
        tree, above = stack.pop()
        node = tree.node
        place = above
        if tree is not root and is_shown(node, shown):
            place = Tree(node)
            above.children.append(place)
        if node.id in folded and tree.children:
            counts[node.id] = (sum(1 for _ in tree.walk()) - 1, 0)
            continue
        children, own = tree.children, runs.get(node.id, []) + (runs.get("", []) if tree is root else [])
        if not node.is_subagents and node.id not in unfolded:
            hidden = [child for child in children if child.node.is_subagents]
            if hidden or own:
                counts[place.node.id] = (0, counts.get(place.node.id, (0, 0))[1] + len(hidden) + len(own))
            children = [child for child in children if not child.node.is_subagents]
        else:
            place.children += [Tree(run) for run in own]
        stack += [(child, place) for child in reversed(children)]
    return top


def is_shown(node: Headline, shown: Filter) -> bool:
    """Whether a filter shows a message."""
    return shown == "everything" or (node.role == "user" if shown == "questions" else node.label is not None)


class TreePane(LinesView):
    """The messages of a tree, one line each."""

    def __init__(self) -> None:
        super().__init__("tree")
        self.lines: list[TreeLine] = []
        self.filter: Filter = "everything"
        self.head: str | None = None
        """The head of the conversation that was chosen."""
        self.here: str | None = None
        """The head of the conversation that this directory continues."""
        self.marked: str | None = None
        """A message to compare another one with."""
        self._root: Tree[Headline] | None = None
        self._runs: dict[str, list[Headline]] = {}
        self._folded: set[str] = set()
        self._unfolded: set[str] = set()

    @property
    def chosen(self) -> Headline | None:
        """The message of the cursor."""
        return self.lines[self.place].node if self.place < len(self.lines) else None

    def show(
        self, root: Tree[Headline] | None, runs: dict[str, list[Headline]], head: str | None, at: str | None
    ) -> None:
        """Show a tree, with the cursor at a message. Folds are kept if it is the same tree."""
        if root is None or self._root is None or root.node.id != self._root.node.id:
            self._folded, self._unfolded, self.marked = set(), set(), None
        self._root, self._runs, self.head = root, runs, head
        self._make(at)

    def _make(self, at: str | None) -> None:
        self.lines = (
            [] if self._root is None else lines_of(self._root, self._runs, self._folded, self._unfolded, self.filter)
        )
        place = next((n for n, line in enumerate(self.lines) if line.node.id == at), None)
        self.rows_changed(place if place is not None else min(self.place, max(len(self.lines) - 1, 0)))

    def fold(self, folds: bool) -> bool:
        """Fold or unfold below the cursor; whether there was something to do."""
        if self.place >= len(self.lines):
            return False
        line = self.lines[self.place]
        id = line.node.id
        if folds:
            change = id not in self._folded and self._has_below()
            self._folded |= {id} if change else set()
            self._unfolded.discard(id)
        else:
            change = id in self._folded or line.runs > 0
            self._unfolded |= {id} if line.runs and id not in self._folded else set()
            self._folded.discard(id)
        if change:
            self._make(id)
        return change

    def toggle(self) -> None:
        """Unfold what is folded below the cursor, or fold it."""
        if not self.fold(False):
            self.fold(True)

    def _has_below(self) -> bool:
        following = self.lines[self.place + 1 :]
        return bool(following) and following[0].node.parent_id is not None

    def next_filter(self) -> Filter:
        """Show only questions, only labelled messages, or everything, in turn."""
        chosen = self.chosen
        self.filter = FILTERS[(FILTERS.index(self.filter) + 1) % len(FILTERS)]
        self._make(chosen.id if chosen else None)
        return self.filter

    def mark(self, id: str | None) -> None:
        """Mark a message, to compare another one with it."""
        self.marked = id
        self.rows_changed(self.place)

    def count(self) -> int:
        """The number of rows."""
        return len(self.lines)

    def row(self, place: int, width: int) -> list[Text]:
        """Branches, role, label and first words; what is folded; where sessions stand."""
        line = self.lines[place]
        node = line.node
        sign, colour = MARKS[node.role]
        before = "".join(f"{mark} " for mark in annotations_of(Tree(node)))
        names = ["here"] * (node.id == self.here) + [one_line(key) for key in node.sessions]
        after = f" ▸ {line.folded:,}" if line.folded else ""
        after += f" ⚙ {line.runs:,}" if line.runs else ""
        after += f" ← {', '.join(names)}" if names else ""
        after = truncate(after, max(width // 2, 8))
        marked = "= " if node.id == self.marked else ""
        prefix = line.prefix[-max(width // 3, 8) :]
        room = max(width - len(prefix) - 2 - len(marked) - len(before) - len(after), 8)
        words = truncate(plain_line(node.words), room)
        return [
            Text.assemble(
                (prefix, "dim"), (f"{sign} ", colour), (marked, "bold magenta"), (before, "yellow"),
                (words, "bold" if node.role == "user" else ""), (after, "blue"),
            )
        ]  # fmt: skip
