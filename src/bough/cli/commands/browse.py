"""`bough browse`, which is also `bough` alone on a terminal: the browser, and then what was chosen in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bough.cli.locate import Locator, working_directory
from bough.cli.options import MESSAGE_OR_SESSION, examples, store_options
from bough.errors import Refused

if TYPE_CHECKING:
    from bough.cli.browser import Picked


@click.command("browse", epilog=examples("bough", "bough browse a1b2c3"))
@click.argument("name", metavar="[ID]", required=False, type=MESSAGE_OR_SESSION)
@store_options
@click.pass_obj
def command(locator: Locator, name: str | None) -> int:
    """Browse conversations, their branches and dialogs on a full screen; ? shows the keys.

    What is chosen there, to continue, fork, edit or answer again, goes on as a chat.
    """
    from bough.cli.browser import browse, can_browse
    from bough.cli.refs import message_id

    if not can_browse():
        raise Refused("The browser needs a terminal; bough conversations, tree, show and search print what it shows.")
    with locator.existing() as store:
        picked = browse(store, working_directory(), at=message_id(store, name) if name else None)
    return 0 if picked is None else follow(locator, picked)


def follow(locator: Locator, picked: Picked) -> int:
    """Do what was picked."""
    from bough.cli.ask.flags import NO_FLAGS
    from bough.cli.commands.chat import chat_picked

    if picked.verb == "page":
        from bough.cli.commands.serve import page

        context = click.get_current_context()
        context.invoke(page)
        return 0
    return chat_picked(locator, picked, NO_FLAGS)
