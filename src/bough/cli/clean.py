"""`bough clean`: conversations that were not used for long go to the trash, after a look at them."""

from __future__ import annotations

import sys

import click

from bough.cli.options import examples, json_option, store_options
from bough.cli.paper import data, note, show
from bough.cli.place import Place
from bough.cli.sessions import listed
from bough.cli.text import counted
from bough.cli.times import iso, span
from bough.errors import Refused
from bough.model import SessionInfo
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
    place: Place, older_than: str | None, days: float | None, trash: bool, dry_run: bool, yes: bool, as_json: bool
) -> None:
    """Move conversations that were not used for 30 days to the trash, after showing which, and asking.

    `bough restore` brings them back, until `bough clean --trash` removes them for good.
    """
    if older_than is None:
        older_than = f"{place.settings().get('conversation.max_age_days') if days is None else days:g}d"
    seconds, said = span(older_than), older_than
    with place.existing() as store:
        if trash:
            purge(store, seconds, said, dry_run, yes, as_json)
        else:
            retire(store, seconds, said, dry_run, yes, as_json)


def retire(store: Store, seconds: float, said: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Moves idle sessions to the trash, if somebody agrees who has seen which."""
    idle = store.clean(seconds, dry_run=True)
    if idle and not as_json:
        show(listed(store, idle))
    if dry_run or not idle:
        would = f"{counted(len(idle), 'conversation')} would go to the trash. Nothing was changed."
        tell(idle, as_json, would if idle else f"No conversation has been unused for {said}.")
        return
    ask(f"Move {counted(len(idle), 'conversation')} to the trash?", yes)
    gone = store.clean(seconds, dry_run=False)
    moved = f"{counted(len(gone), 'conversation')} moved to the trash."
    tell(gone, as_json, f"{moved} To bring one back: bough restore SESSION")


def purge(store: Store, seconds: float, said: str, dry_run: bool, yes: bool, as_json: bool) -> None:
    """Removes for good what has been in the trash for long, if somebody agrees."""
    limit = store.clock() - int(seconds * 1_000_000)
    old = [entry for entry in store.trash() if entry.deleted_at <= limit]
    messages = counted(sum(entry.messages for entry in old), "message")
    note(f"In the trash for more than {said}: {counted(len(old), 'entry', 'entries')}, with {messages}.")
    removed = 0
    if old and not dry_run:
        ask("Remove them for good?", yes)
        removed = store.purge(seconds)
        note(f"{removed:,} removed. `bough db vacuum` gives their space back to the disk.")
    if as_json:
        data({"found": len(old), "removed": removed})


def tell(sessions: list[SessionInfo], as_json: bool, words: str) -> None:
    if as_json:
        data([{"session": info.key, "title": info.title, "updated": iso(info.updated_at)} for info in sessions])
    else:
        note(words)


def ask(question: str, yes: bool) -> None:
    """Raises `Refused` unless somebody says yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Refused("Nothing was changed: nobody is there to be asked. Say --yes to do it, --dry-run to only look.")
    if not click.confirm(question, default=False, err=True):
        raise Refused("Nothing was changed.")
