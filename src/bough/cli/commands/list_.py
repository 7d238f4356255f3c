"""`bough conversations list`: recent trees, or a flat table with one row per conversation."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import click

from bough.cli.commands.tree import Shown, print_recent
from bough.cli.locate import Locator
from bough.cli.options import Extent, examples, extent_options, json_option, store_options
from bough.cli.output.console import print_json_items, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.model import Headline
from bough.model.times import iso
from bough.model.tree import Tree
from bough.store import Store


@click.command(
    "list",
    epilog=examples(
        "bough conversations ls", "bough conversations ls --flat -n 50", "bough conversations ls --all --json"
    ),
)
@click.option("--flat", is_flag=True, help="A table with one row per conversation.")
@extent_options
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, flat: bool, extent: Extent, as_json: bool) -> None:
    """List conversations as trees, the most recently active last."""
    with locator.existing() as store:
        if flat:
            print_flat(store, extent, as_json)
        else:
            print_recent(store, extent, as_json)


def print_flat(store: Store, extent: Extent, as_json: bool) -> None:
    """Print a table of the most recently active trees."""
    shown = Shown(store, extent)
    rows = (summary(store, tree) for tree in shown)
    if as_json:
        print_json_items({**row, "updated": iso(row["updated"])} for row in rows)
        return
    cells = (
        (
            row["id"],
            format_time(row["updated"]),
            row["messages"],
            row["branches"],
            last_of(row["sessions"]),
            row["title"],
        )
        for row in rows
    )
    heads = ("ID", "LAST USED", "MESSAGES", "BRANCHES", "SESSION", "TITLE OR FIRST WORDS")
    first = list(islice(cells, 1))
    lines = table(heads, chain(first, cells), right=("MESSAGES", "BRANCHES")) if first else ()
    print_lines(lines, from_end=True)
    shown.note_omitted()


def last_of(keys: list[str]) -> str:
    """The last of `keys` and the number of the others: `cli:work +2`."""
    return keys[-1] + (f" +{len(keys) - 1}" if len(keys) > 1 else "") if keys else ""


def summary(store: Store, tree: Tree[Headline]) -> dict[str, Any]:
    """A conversation as one row. Its id is that of its newest message, where it can be continued."""
    nodes = [below.node for _, below in tree.walk()]
    keys = list(dict.fromkeys(key for node in nodes for key in node.sessions))
    titles = [info.title for key in keys if (info := store.find_session(key)) and info.title]
    return {
        "id": tree.newest.id,
        "root": tree.node.id,
        "updated": tree.newest.created_at,
        "messages": len(nodes),
        "branches": sum(1 for _ in tree.leaves()),
        "sessions": keys,
        "title": titles[-1] if titles else tree.node.words,
    }
