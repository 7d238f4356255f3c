"""`bough tree [ID]`: all conversations as trees, or the tree of one message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import click

from bough.cli.here import head_here, sessions_here
from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, Extent, examples, extent_options, json_option, store_options
from bough.cli.output.console import note, on_terminal, print_json, print_json_items, print_lines
from bough.cli.output.tree import tree_lines
from bough.cli.refs import message_id
from bough.errors import Invalid
from bough.model import Headline
from bough.model.times import iso
from bough.model.tree import Tree
from bough.store import Store

EMPTY = 'No messages found. Start a conversation: bough "…", or import one: bough import PATH'


@click.command(epilog=examples("bough tree", "bough tree a1b2c3", "bough tree a1b2c3 --below", "bough tree --json"))
@click.argument("name", metavar="[ID]", required=False, type=MESSAGE_OR_SESSION)
@click.option("--below", is_flag=True, help="Only the message and its descendants.")
@click.option("--here", is_flag=True, help="Only conversations of this directory.")
@extent_options
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, name: str | None, below: bool, here: bool, extent: Extent, as_json: bool) -> None:
    """Draw conversations as trees, the most recently active last; with ID, the tree of that message.

    `here` marks the message from which the next question in this directory goes on.
    """
    if name and here:
        raise Invalid("--here and ID both name conversations; use one of them.")
    with locator.existing() as store:
        if here:
            print_here(store, extent, as_json)
            return
        if name is None:
            print_recent(store, extent, as_json)
            return
        id = message_id(store, name)
        trees = store.outline(id, whole=not below)
    if as_json:
        print_json(outline_json(trees))
    else:
        print_lines(tree_lines(trees, id))


def print_recent(store: Store, extent: Extent, as_json: bool) -> None:
    """Print the most recently active trees, and on stderr what is omitted."""
    shown = Shown(store, extent)
    if as_json:
        print_json_items(row for tree in shown for row in outline_json([tree]))
        return
    fold = on_terminal() and not extent.full
    print_lines(tree_lines(shown, head_here(store), fold=fold), from_end=True)
    shown.note_omitted()


def print_here(store: Store, extent: Extent, as_json: bool) -> None:
    """Print the trees of the sessions of this directory, the most recently active last."""
    trees: dict[str, Tree[Headline]] = {}
    for info in sessions_here(store, extent.limit, delegates=extent.subagents):
        if info.head_id is not None and len(trees) != extent.limit:
            (tree,) = store.outline(info.head_id, whole=True)
            trees.setdefault(tree.node.id, tree)
    shown = sorted(trees.values(), key=lambda tree: tree.newest.created_at)
    if as_json:
        print_json(outline_json(shown))
        return
    print_lines(tree_lines(shown, head_here(store), fold=on_terminal() and not extent.full), from_end=True)
    if not shown:
        note('This directory has no conversation. Start one: bough "…"')


class Shown:
    """The trees that a list shows, the most recently active last; all of them are never in memory together."""

    def __init__(self, store: Store, extent: Extent) -> None:
        self.store = store
        self.extent = extent
        self.is_empty = True
        self.has_older = False

    def __iter__(self) -> Iterator[Tree[Headline]]:
        for tree in self._trees():
            self.is_empty = False
            yield tree

    def _trees(self) -> Iterable[Tree[Headline]]:
        limit = self.extent.limit
        if limit is None:
            return self.store.list_trees(subagents=self.extent.subagents)
        trees = self.store.outline(limit=limit + 1, subagents=self.extent.subagents)  # counting all would read all
        self.has_older = len(trees) > limit
        return trees[-limit:]

    def note_omitted(self) -> None:
        """Print to stderr, after the list, what it omits, and which option shows it."""
        has_runs = not self.extent.subagents and self.store.has_subagent_runs()
        if self.is_empty and not has_runs:
            note(EMPTY)
        if self.has_older:
            note("Older conversations are not shown; --all shows them, -n N shows N.")
        if has_runs:
            note("Runs of subagents are not shown; --subagents shows them.")


def outline_json(trees: Iterable[Tree[Headline]]) -> list[dict[str, Any]]:
    """Trees as JSON: one object per message, in drawing order."""
    return [headline_json(below.node) for tree in trees for _, below in tree.walk()]


def headline_json(node: Headline) -> dict[str, Any]:
    return {
        "id": node.id,
        "parent": node.parent_id,
        "time": iso(node.created_at),
        "role": node.role,
        "words": node.words,
        "label": node.label,
        "turn": node.turn_id,
        "kind": node.kind,
        "status": node.status,
        "sessions": list(node.sessions),
    }
