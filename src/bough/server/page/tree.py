"""`/t/<message or session>`: the whole tree as an outline, a line for each run of messages without a fork."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters.html.blocks import text
from bough.model import Json
from bough.model.branches import Segment
from bough.model.times import iso
from bough.model.tree import Tree
from bough.server.page.html import message_link, moment, plural, status, words_of
from bough.server.page.screen import ScreenRequest, Section, State

if TYPE_CHECKING:
    from bough.store import Store

WINDOW = 1_000
"""Segments on one page."""


class TreeScreen:
    """The segments of a tree."""

    section: Section = "list"

    def __init__(self, store: Store, asked: ScreenRequest) -> None:
        self.asked = asked
        session = store.find_session(asked.path)
        id = (session.head_id if session is not None else None) or store.find_id(asked.path)
        if id is None:
            raise NotFound(f"There is no message or session {asked.path!r}.")
        self.id = id
        self.tree: Tree[Segment] = store.segments(id, whole=True, as_of=asked.as_of)[0]
        self.rows = list(drawn(self.tree))
        self.start = int(asked.get("from") or 0) if (asked.get("from") or "0").isdecimal() else 0
        self.messages = sum(tree.node.messages for _, _, tree in self.rows)
        self.leaves = sum(not tree.children for _, _, tree in self.rows)
        self.title = f"Tree of {words_plain(self.tree.node)}"
        self.state: State = "ready"

    def main(self) -> str:
        rows = self.rows[self.start : self.start + WINDOW]
        items = "".join(self._row(depth, is_last, tree) for depth, is_last, tree in rows)
        more = "" if len(self.rows) <= self.start + WINDOW else (
            f'<p class="next"><a class="button" href="{text(self.asked.with_query(**{"from": str(self.start + WINDOW)}))}">'
            f"{len(self.rows) - self.start - WINDOW:,} more</a></p>")  # fmt: skip
        return (
            f'<header class="title"><h1 dir="auto">{words_of(self.tree.node.first, 120)}</h1><p class="facts"><span>'
            f"{plural(self.messages, 'message')}</span><span>{plural(self.leaves, 'branch')}</span>"
            f'<span><a href="{message_link(self.id)}">Open the conversation</a></span></p></header>'
            f'<div class="tree" role="tree" aria-label="Messages">{items}</div>{more}'
        )

    def _row(self, depth: int, is_last: bool, tree: Tree[Segment]) -> str:
        segment = tree.node
        here = ' aria-current="true"' if segment.id == self.id else ""
        fold = ' aria-expanded="true"' if len(tree.children) > 1 else ""
        last = "" if segment.messages == 1 else (f'<span class="last" dir="auto">{words_of(segment.last, 100)}</span>')
        names = "".join(f'<span class="note">{text(key)}</span>' for key in segment.last.sessions[-2:])
        label = "".join(f'<span class="note">{text(one.label)}</span>' for one in (segment.first,) if one.label)
        return (
            f'<a class="node d{min(depth, 12)}{" end" if not tree.children else ""}" role="treeitem" '
            f'aria-level="{depth + 1}"{fold}{here} href="{message_link(segment.first.id)}" id="n-{text(segment.id)}" '
            f'data-last="{str(is_last).lower()}"><span class="first" dir="auto">{words_of(segment.first, 110) or segment.first.role}'
            f"</span>{last}<small>{plural(segment.messages, 'message')} · {moment(segment.last.created_at)}</small>"
            f"{label}{names}{status(segment.last.status)}</a>"
        )

    def aside(self) -> str:
        return ""

    def data(self) -> Json:
        return {"id": self.id, "messages": self.messages, "branches": self.leaves, "segments": [
            {"depth": depth, "first": tree.node.first.id, "last": tree.node.id, "parent": tree.node.parent_id,
             "messages": tree.node.messages, "words": tree.node.first.words, "sessions": list(tree.node.last.sessions),
             "created": iso(tree.node.last.created_at), "status": tree.node.last.status}
            for depth, _, tree in self.rows
        ]}  # fmt: skip

    def markdown(self) -> str:
        lines = [f"{'  ' * depth}- `{tree.node.first.id}` {words_plain(tree.node)} ({tree.node.messages})"
                 for depth, _, tree in self.rows]  # fmt: skip
        return "\n".join([f"# {self.title}", "", *lines, ""])


def drawn(tree: Tree[Segment]) -> Iterator[tuple[int, bool, Tree[Segment]]]:
    """Each segment with its depth, and whether it is the last of its siblings; a single child is no deeper."""
    stack = [(0, True, tree)]
    while stack:
        depth, is_last, one = stack.pop()
        yield depth, is_last, one
        deeper = depth + 1 if len(one.children) > 1 else depth
        stack.extend((deeper, place == len(one.children) - 1, child)
                     for place, child in reversed(list(enumerate(one.children))))  # fmt: skip


def words_plain(segment: Segment) -> str:
    """The first words of a segment."""
    return " ".join(segment.first.words.split())[:80] or segment.first.role
