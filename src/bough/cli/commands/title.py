"""`bough title ID TEXT`: the title of a conversation."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import echo, print_json
from bough.cli.output.text import one_line
from bough.cli.refs import find_session, message_id
from bough.errors import NotFound
from bough.model import SessionInfo
from bough.store import Store


@click.command("title", epilog=examples('bough title cli:default "Oaks and ashes"', "bough title a1b2c3"))
@click.argument("name", metavar="ID", type=MESSAGE_OR_SESSION)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, name: str, words: tuple[str, ...], as_json: bool) -> None:
    """Set the title of session ID, or of the session of message ID; without TEXT, print it."""
    with locator.existing() as store:
        session = session_of(store, name)
        title = " ".join(words) or session.title
        if words:
            store.session(session.key, title=title)
    if as_json:
        print_json({"session": session.key, "title": title})
    elif title:
        echo(one_line(title))


def session_of(store: Store, name: str) -> SessionInfo:
    """The session called `name`, or that of the message `name`. Raises `NotFound` and `Ambiguous`."""
    if found := find_session(store, name):
        return found
    (headline,) = store.headlines([message_id(store, name)])
    turn = store.turn_info(headline.turn_id) if headline.turn_id else None
    for key in (*reversed(headline.sessions), turn.session if turn else None):
        if key and (found := store.find_session(key)):
            return found
    raise NotFound(f"Message {headline.id!r} belongs to no session; `bough fork {headline.id} --title …` makes one.")
