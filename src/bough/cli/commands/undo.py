"""`bough undo`: take back the last delete, rewind, clear, move, title or label."""

from __future__ import annotations

from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import SESSION, examples, json_option, limit_option, store_options
from bough.cli.output.console import echo, note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.cli.refs import session_key
from bough.model import Undoable
from bough.model.times import iso
from bough.session import Session
from bough.store import Store

NOTHING = "There is nothing to undo."


@click.command(
    "undo", epilog=examples("bough undo", "bough undo --list", "bough undo 1234", "bough undo --session work")
)
@click.argument("number", metavar="[NUMBER]", required=False, type=int)
@click.option("--list", "listed", is_flag=True, help="List what can be undone, with its numbers; change nothing.")
@click.option("--session", metavar="NAME", type=SESSION, help="Only in this session.")
@limit_option(20, "Rows of --list.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, number: int | None, listed: bool, session: str | None, limit: int, as_json: bool) -> None:
    """Undo the last delete, rewind, clear, move, compaction, title or label; with NUMBER, the one of the list.

    What would lose something that was done since is refused.
    """
    with locator.existing() as store:
        key = session_key(store, session)
        within: Store | Session = store if key is None else store.session(key)
        if listed:
            print_undoable(within.undoable(limit), as_json)
            return
        undone = within.undo(number)
    if as_json:
        print_json(undoable_json(undone) if undone else None)
    elif undone is None:
        note(NOTHING)
    else:
        echo(f"Undone: {undone.text}")


def print_undoable(found: list[Undoable], as_json: bool) -> None:
    if as_json:
        print_json([undoable_json(one) for one in found])
    elif not found:
        note(NOTHING)
    else:
        rows = [(one.cursor, format_time(one.at), one.text) for one in found]
        print_lines(table(("NUMBER", "DONE", "WHAT"), rows, right=("NUMBER",)))


def undoable_json(one: Undoable) -> dict[str, Any]:
    return {
        "number": one.cursor,
        "verb": one.verb,
        "session": one.session,
        "message": one.message_id,
        "time": iso(one.at),
        "text": one.text,
    }
