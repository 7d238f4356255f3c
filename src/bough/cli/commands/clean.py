"""`bough clean`: move old conversations to the trash, or empty it, after a confirmation."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Generic, TypeVar

import click

from bough.cli.commands.sessions import session_table
from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import note, print_json, print_json_items, print_lines
from bough.cli.output.text import pluralize
from bough.errors import Refused
from bough.model import Headline, SessionInfo
from bough.model.times import iso, parse_duration
from bough.model.tree import Tree
from bough.store import Store

T = TypeVar("T")


@click.command(
    "clean",
    epilog=examples(
        "bough clean", "bough clean --older-than 90d --dry-run", "bough clean --trash --older-than 1w --yes"
    ),
)
@click.option("--older-than", metavar="SPAN", help="The minimum age: 12h, 2w. Default: 30d, or as configured.")
@click.option("-d", "--days", metavar="N", type=click.FloatRange(min=0), help="Like --older-than, in days.")
@click.option("--channel", metavar="NAME", help="Only sessions of this channel: cli, discord, telegram …")
@click.option("--trash", is_flag=True, help="Permanently delete trash entries of this age.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, older_than: str | None, days: float | None, channel: str | None, trash: bool, dry_run: bool,
    yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Move conversations that have not been used for 30 days, or have expired, to the trash, after listing and asking.

    A conversation is a session, with the messages that no other session reaches, a tree without a session, or a branch
    that no session, label, pin or external name reaches. What is pinned stays, and what leads to a pinned message.
    `bough restore` restores them, until `bough clean --trash` deletes them permanently.
    """
    if older_than is None:
        older_than = f"{locator.settings().get('conversation.max_age_days') if days is None else days:g}d"
    seconds = parse_duration(older_than)
    if trash and channel is not None:
        raise click.UsageError("--channel selects conversations; the trash has no channels.")
    with locator.existing() as store:
        if trash:
            purge(store, seconds, older_than, dry_run, yes, as_json)
        else:
            trash_idle(store, seconds, channel, older_than, dry_run, yes, as_json)


def trash_idle(
    store: Store, seconds: float, channel: str | None, age: str, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """List idle conversations and move them to the trash after a confirmation. Raises `Refused`."""
    idle = store.idle_sessions(seconds, channel=channel)
    stray = stray_trees(store, seconds, channel)
    if dry_run and as_json:
        print_json_items(rows_json(idle, stray))
        return
    count = print_counted(store, idle, stray, as_json)
    found = pluralize(count, "conversation")
    if dry_run or not count:
        would = f"{found} would be moved to the trash. Nothing was changed."
        report([], [], as_json, would if count else f"No conversation has been unused for {age}.")
        return
    confirm(f"Move {found} to the trash?", yes)
    found_stray = list(stray_trees(store, seconds, channel))  # read again: they may have changed since
    store.delete_messages([tree.node.id for tree in found_stray], recursive=True)
    removed = store.clean(seconds, dry_run=False, channel=channel)
    moved = f"{pluralize(len(removed) + len(found_stray), 'conversation')} moved to the trash."
    report(removed, found_stray, as_json, f"{moved} To restore one: bough restore NAME")


def print_counted(store: Store, idle: Iterable[SessionInfo], stray: Iterable[Tree[Headline]], silent: bool) -> int:
    """Print what would be removed, if there is anything, while it is found, unless `silent`; how many it is."""
    sessions, trees = CountedItems(idle), CountedItems(stray)
    if not silent and (sessions or trees):
        print_lines(session_table(store, sessions, trees))
    return sessions.rest() + trees.rest()  # who reads a pager may have seen enough


class CountedItems(Generic[T]):
    """Items that are counted while they are read, and are true if there are any."""

    def __init__(self, items: Iterable[T]) -> None:
        self._items = iter(items)
        self._first: list[T] = []
        self.count = 0

    def __bool__(self) -> bool:
        self._first = self._first or list(islice(self._items, 1))
        return bool(self._first)

    def __iter__(self) -> Iterator[T]:
        while self._first:
            self.count += 1
            yield self._first.pop()
        for item in self._items:
            self.count += 1
            yield item

    def rest(self) -> int:
        """The number of all items, read to the end."""
        for _ in self:
            pass
        return self.count


def stray_trees(store: Store, seconds: float, channel: str | None) -> Iterator[Tree[Headline]]:
    """The trees without a session, and the branches that nothing reaches, of at least `seconds` of age.

    They have no channel.
    """
    if channel is not None:
        return
    limit = store.clock() - int(seconds * 1_000_000)
    pinned = {pin.message_id for pin in store.pins()}
    taken: set[str] = set()
    for tree in store.list_trees():
        if tree.newest.created_at < limit and not is_kept(store, tree, pinned):
            taken.update(below.node.id for _, below in tree.walk())
            yield tree
    for tree in stray_branches(store, taken):
        if tree.newest.created_at < limit:
            yield tree


def stray_branches(store: Store, taken: set[str]) -> list[Tree[Headline]]:
    """The branches that nothing reaches, except for these messages."""
    loose = store.headlines([id_ for id_ in store.unreachable() if id_ not in taken])
    ids = {node.id for node in loose}
    return [tree for node in loose if node.parent_id not in ids for tree in store.outline(node.id)]


def is_kept(store: Store, tree: Tree[Headline], pinned: set[str]) -> bool:
    """Whether a tree contains the head of a session, a turn of one, or a pinned message."""
    nodes = [below.node for _, below in tree.walk()]
    turns = {node.turn_id for node in nodes if node.turn_id is not None}
    if any(node.id in pinned for node in nodes):
        return True
    return any(node.sessions for node in nodes) or any(store.turn_info(turn).session for turn in turns)


def purge(store: Store, seconds: float, age: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Permanently delete old trash entries after a confirmation. Raises `Refused`."""
    limit = store.clock() - int(seconds * 1_000_000)
    old = [entry for entry in store.trash() if entry.deleted_at <= limit]
    messages = pluralize(sum(entry.messages for entry in old), "message")
    note(f"In the trash for more than {age}: {pluralize(len(old), 'entry', 'entries')}, with {messages}.")
    removed = 0
    if old and not dry_run:
        confirm("Delete them permanently?", yes)
        removed = store.purge(seconds)
        note(f"{removed:,} deleted. `bough db vacuum` returns their space to the file system.")
    if as_json:
        print_json({"found": len(old), "removed": removed})


def report(sessions: list[SessionInfo], stray: list[Tree[Headline]], as_json: bool, message: str) -> None:
    if not as_json:
        note(message)
        return
    print_json_items(rows_json(sessions, stray))


def rows_json(sessions: Iterable[SessionInfo], stray: Iterable[Tree[Headline]]) -> Iterator[dict[str, Any]]:
    for info in sessions:
        yield row_json(info.key, info.head_id, info.title, info.updated_at)
    for tree in stray:
        yield row_json(None, tree.newest.id, None, tree.newest.created_at)


def row_json(key: str | None, head: str | None, title: str | None, used: int) -> dict[str, Any]:
    return {"session": key, "head": head, "title": title, "updated": iso(used)}


def confirm(question: str, yes: bool) -> None:
    """Ask for confirmation unless `yes`. Raises `Refused` without it."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("Nothing was changed: a confirmation needs a terminal. Use --yes, or --dry-run to only list.")
    if not click.confirm(question, default=False, err=True):
        raise Refused("Nothing was changed.")
