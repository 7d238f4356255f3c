"""`bough fork ID`: a new session at any message."""

from __future__ import annotations

import click

from bough.cli.browser import browse, can_browse
from bough.cli.locate import Locator, working_directory
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import echo, note, print_json
from bough.cli.refs import find_session, message_id
from bough.errors import Invalid
from bough.model.keys import cli_key
from bough.store import Store


@click.command(
    "fork", epilog=examples("bough fork a1b2c3", 'bough fork a1b2c3 --session shorter --title "A shorter one"')
)
@click.argument("name", metavar="[ID]", required=False, type=MESSAGE_OR_SESSION)
@click.option("--session", metavar="NAME", help="The name of the new session; `work` means `cli:work`.")
@click.option("--title", metavar="TEXT", help="The title of the new session.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, name: str | None, session: str | None, title: str | None, as_json: bool) -> None:
    """Create a session at message ID, or at the head of session ID; without ID, choose it. Nothing is copied.

    Prints the name of the new session. Messages added to it do not change the original.
    """
    key = session if session is None or ":" in session else cli_key(session)
    with locator.existing() as store:
        name = name or chosen(store)
        if name is None:
            return
        at, origin = message_id(store, name), find_session(store, name)
        forked = store.session(origin.key).fork(at, key, title) if origin else store.fork(at, key, title)
    if as_json:
        print_json({"session": forked.key, "at": at})
        return
    echo(forked.key)
    note(f"Its head is {at}. To continue there: bough run --session {forked.key} PROMPT")


def chosen(store: Store) -> str | None:
    """The message that is chosen in the browser. Raises `Invalid` where there is no terminal for it."""
    if not can_browse():
        raise Invalid("Name a message or a session to fork: bough fork ID. `bough tree` shows the ids.")
    picked = browse(store, working_directory(), title="Fork where?")
    return picked.id if picked else None
