"""`bough restore [NAME…]`: list the trash, or restore from it."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import TrashType, examples, json_option, store_options
from bough.cli.output.console import echo, note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.text import pluralize
from bough.cli.output.times import format_time
from bough.cli.refs import find_session
from bough.errors import NotFound
from bough.model.keys import cli_key
from bough.model.times import iso
from bough.store import Store


@click.command(
    "restore",
    epilog=examples("bough restore                 list the trash", "bough restore a1b2c3", "bough restore cli:work"),
)
@click.argument("names", metavar="[NAME]...", nargs=-1, type=TrashType())
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, names: tuple[str, ...], as_json: bool) -> None:
    """Restore what was deleted: by the id of a deleted message, by a session, or by the name of the trash entry.

    Without NAME, list the trash.
    """
    restored = []
    with locator.existing() as store:
        if not names:
            print_trash(store, as_json)
            return
        for name in names:
            ids = restore(store, name)
            restored.append({"name": name, "messages": ids})
            if not as_json:  # before the next one, which may not exist
                echo(f"Restored {name}: {pluralize(len(ids), 'message')}.")
    if as_json:
        print_json(restored)


def restore(store: Store, name: str) -> list[str]:
    """Restore the trash entry called `name`; `work` may stand for `cli:work`. Raises `NotFound` and `Ambiguous`."""
    try:
        return store.restore(name)
    except NotFound as error:
        if not any(cli_key(name) in entry.sessions for entry in store.trash()):
            lives = find_session(store, name) or store.find_id(name)
            hint = f"{name!r} was not deleted." if lives else "`bough restore` lists the trash."
            raise NotFound(f"{error} {hint}") from None
    return store.restore(cli_key(name))


def print_trash(store: Store, as_json: bool) -> None:
    entries = store.trash()
    if as_json:
        print_json([
            {"name": entry.id, "deleted": iso(entry.deleted_at), "reason": entry.reason, "messages": entry.messages,
             "sessions": list(entry.sessions)} for entry in entries
        ])  # fmt: skip
    elif not entries:
        note("The trash is empty.")
    else:
        rows = [(entry.id, format_time(entry.deleted_at), entry.messages, entry.reason) for entry in entries]
        print_lines(table(("NAME", "DELETED", "MESSAGES", "WHAT"), rows, right=("MESSAGES",)))
        note("bough restore NAME restores an entry; bough clean --trash deletes old entries permanently.")
