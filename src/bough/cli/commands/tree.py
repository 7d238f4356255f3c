"""`bough tree [ID]`: all conversations as trees, or the tree of one message."""

from __future__ import annotations

from typing import Any

import click

from bough.cli.here import head_here, sessions_here
from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, Extent, examples, extent_options, json_option, store_options
from bough.cli.output.console import note, on_terminal, print_json, print_lines
from bough.cli.output.text import pluralize
from bough.cli.output.tree import tree_lines
from bough.cli.refs import message_id
from bough.errors import Invalid
from bough.model import Headline, Size
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
    trees = store.outline(limit=extent.limit, subagents=extent.subagents)
    if as_json:
        print_json(outline_json(trees))
        return
    fold = on_terminal() and not extent.full
    print_lines(tree_lines(trees, head_here(store), fold=fold), from_end=True)
    note_omitted(store.size(), len(trees), extent.subagents)


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


def note_omitted(size: Size, shown: int, subagents: bool) -> None:
    """Print to stderr how many conversations a list omits, and which option shows them."""
    if size.messages == 0:
        note(EMPTY)
    runs = 0 if subagents else size.subagent_runs
    older = size.trees - runs - shown
    if older > 0:
        note(f"{pluralize(older, 'older conversation')} not shown; --all shows them, -n N shows N.")
    if runs:
        note(f"{pluralize(runs, 'run')} of subagents not shown; --subagents shows them.")


def outline_json(trees: list[Tree[Headline]]) -> list[dict[str, Any]]:
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
