"""`bough clean`: conversations that were not used for long go to the trash, after a look at them."""

from __future__ import annotations

import sys

import click

from bough.cli.commands.sessions import session_table
from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.text import pluralize
from bough.cli.output.times import iso, parse_duration
from bough.errors import Refused
from bough.model import Headline, SessionInfo
from bough.model.tree import Tree
from bough.store import Store


@click.command(
    "clean",
    epilog=examples(
        "bough clean", "bough clean --older-than 90d --dry-run", "bough clean --trash --older-than 1w --yes"
    ),
)
@click.option("--older-than", metavar="SPAN", help="Not used for so long: 12h, 2w; 30d, or as configured.")
@click.option("-d", "--days", metavar="N", type=click.FloatRange(min=0), help="The same, in days.")
@click.option("--trash", is_flag=True, help="Remove for good what has been in the trash for so long.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, older_than: str | None, days: float | None, trash: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Move conversations that were not used for 30 days to the trash, after showing which, and asking.

    A conversation is a session, with what no other session needs; or a tree of messages that belongs to no session.
    `bough restore` brings them back, until `bough clean --trash` removes them for good.
    """
    if older_than is None:
        older_than = f"{locator.settings().get('conversation.max_age_days') if days is None else days:g}d"
    seconds, said = parse_duration(older_than), older_than
    with locator.existing() as store:
        if trash:
            purge(store, seconds, said, dry_run, yes, as_json)
        else:
            retire(store, seconds, said, dry_run, yes, as_json)


def retire(store: Store, seconds: float, said: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Moves what is idle to the trash, if somebody agrees who has seen what."""
    idle, loose = store.clean(seconds, dry_run=True), strays(store, seconds)
    found = pluralize(len(idle) + len(loose), "conversation")
    if (idle or loose) and not as_json:
        print_lines(session_table(store, idle, loose))
    if dry_run or not (idle or loose):
        would = f"{found} would go to the trash. Nothing was changed."
        tell(idle, loose, as_json, would if idle or loose else f"No conversation has been unused for {said}.")
        return
    ask(f"Move {found} to the trash?", yes)
    loose = strays(store, seconds)  # as they are now: somebody has thought about it for a while
    store.delete_messages([tree.node.id for tree in loose], recursive=True)
    gone = store.clean(seconds, dry_run=False)
    moved = f"{pluralize(len(gone) + len(loose), 'conversation')} moved to the trash."
    tell(gone, loose, as_json, f"{moved} To bring one back: bough restore NAME")


def strays(store: Store, seconds: float) -> list[Tree[Headline]]:
    """The trees that belong to no session, and to which nothing was added for so long."""
    limit = store.clock() - int(seconds * 1_000_000)
    old = [tree for tree in store.outline(limit=None) if tree.newest.created_at < limit]
    return [tree for tree in old if not is_known(store, tree)]


def is_known(store: Store, tree: Tree[Headline]) -> bool:
    """Whether a session stands in a tree, or has asked something in it."""
    nodes = [below.node for _, below in tree.walk()]
    turns = {node.turn_id for node in nodes if node.turn_id is not None}
    return any(node.sessions for node in nodes) or any(store.turn_info(turn).session for turn in turns)


def purge(store: Store, seconds: float, said: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Removes for good what has been in the trash for long, if somebody agrees."""
    limit = store.clock() - int(seconds * 1_000_000)
    old = [entry for entry in store.trash() if entry.deleted_at <= limit]
    messages = pluralize(sum(entry.messages for entry in old), "message")
    note(f"In the trash for more than {said}: {pluralize(len(old), 'entry', 'entries')}, with {messages}.")
    removed = 0
    if old and not dry_run:
        ask("Remove them for good?", yes)
        removed = store.purge(seconds)
        note(f"{removed:,} removed. `bough db vacuum` gives their space back to the disk.")
    if as_json:
        print_json({"found": len(old), "removed": removed})


def tell(sessions: list[SessionInfo], loose: list[Tree[Headline]], as_json: bool, words: str) -> None:
    if not as_json:
        note(words)
        return
    told = [(info.key, info.head_id, info.title, info.updated_at) for info in sessions]
    others = [(None, tree.newest.id, None, tree.newest.created_at) for tree in loose]
    print_json([
        {"session": key, "head": head, "title": title, "updated": iso(used)}
        for key, head, title, used in (*told, *others)
    ])  # fmt: skip


def ask(question: str, yes: bool) -> None:
    """Raises `Refused` unless somebody says yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("Nothing was changed: nobody is there to be asked. Say --yes to do it, --dry-run to only look.")
    if not click.confirm(question, default=False, err=True):
        raise Refused("Nothing was changed.")
