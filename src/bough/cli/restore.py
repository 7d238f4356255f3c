"""`bough restore [NAME…]`: what is in the trash, and the way back."""

from __future__ import annotations

import click

from bough.cli.options import Deleted, examples, json_option, store_options
from bough.cli.paper import data, note, say, show
from bough.cli.place import Place
from bough.cli.table import table
from bough.cli.text import counted
from bough.cli.times import iso, shown
from bough.store import Store


@click.command(
    "restore",
    epilog=examples(
        "bough restore                 what is in the trash", "bough restore a1b2c3", "bough restore cli:work"
    ),
)
@click.argument("names", metavar="[NAME]...", nargs=-1, type=Deleted())
@json_option
@store_options
@click.pass_obj
def command(place: Place, names: tuple[str, ...], as_json: bool) -> None:
    """Bring back what was deleted: by an id or session that was in it, or by its name in the trash.

    Without NAME, list what is in the trash.
    """
    with place.existing() as store:
        if not names:
            print_trash(store, as_json)
            return
        restored = [(name, store.restore(name)) for name in names]
    if as_json:
        data([{"name": name, "messages": ids} for name, ids in restored])
    else:
        for name, ids in restored:
            say(f"Restored {name}: {counted(len(ids), 'message')}.")


def print_trash(store: Store, as_json: bool) -> None:
    entries = store.trash()
    if as_json:
        data([
            {"name": entry.id, "deleted": iso(entry.deleted_at), "reason": entry.reason, "messages": entry.messages,
             "sessions": list(entry.sessions)} for entry in entries
        ])  # fmt: skip
    elif not entries:
        note("The trash is empty.")
    else:
        rows = [(entry.id, shown(entry.deleted_at), entry.messages, entry.reason) for entry in entries]
        show(table(("NAME", "DELETED", "MESSAGES", "WHAT"), rows, right=("MESSAGES",)))
        note("bough restore NAME brings one back; bough clean --trash removes old ones for good.")
