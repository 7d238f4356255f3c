"""`bough pin [ID]`: keep conversations and messages from `clean`, and list what is pinned."""

from __future__ import annotations

from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import echo, note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.cli.refs import find_session, message_id
from bough.model.times import iso
from bough.store import Store


@click.command(
    "pin", epilog=examples("bough pin cli:garden", "bough pin a1b2c3", "bough pin a1b2c3 --remove", "bough pin")
)
@click.argument("names", metavar="[ID]...", nargs=-1, type=MESSAGE_OR_SESSION)
@click.option("--remove", is_flag=True, help="Remove the pin.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, names: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Pin sessions or messages: `bough clean` never takes them. Without ID, list what is pinned."""
    with locator.existing() as store:
        if not names:
            print_pinned(pinned(store), as_json)
            return
        # All names first, so that none is pinned if one does not exist.
        sessions = {name: found.key for name in names if (found := find_session(store, name))}
        ids = {name: message_id(store, name) for name in names if name not in sessions}
        for key in sessions.values():
            session = store.session(key)
            session.unpin() if remove else session.pin()
        for id in ids.values():
            store.unpin(id) if remove else store.pin(id)
    done = [*sessions.values(), *ids.values()]
    if as_json:
        print_json([{"id": name, "pinned": not remove} for name in done])
    else:
        for name in done:
            echo(f"{name} is {'not pinned any more' if remove else 'pinned'}.")


def pinned(store: Store) -> list[dict[str, Any]]:
    """The pinned sessions and messages, the one that was pinned last first."""
    rows = [
        {"id": info.key, "what": "session", "pinned": info.pinned_at or 0, "words": info.title or ""}
        for info in store.sessions(pinned=True)
    ]
    pins = store.pins()
    words = {one.id: one.words for one in store.headlines([pin.message_id for pin in pins])}
    rows += [
        {"id": pin.message_id, "what": "message", "pinned": pin.pinned_at, "words": words[pin.message_id]}
        for pin in pins
    ]
    return sorted(rows, key=lambda row: row["pinned"], reverse=True)


def print_pinned(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json([{**row, "pinned": iso(row["pinned"])} for row in rows])
    elif not rows:
        note("Nothing is pinned. To pin something: bough pin ID")
    else:
        cells = [(row["id"], row["what"], format_time(row["pinned"]), row["words"]) for row in rows]
        print_lines(table(("ID", "WHAT", "PINNED", "WORDS"), cells))
