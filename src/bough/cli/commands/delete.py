"""`bough delete ID…`: move messages and sessions to the trash."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import echo, print_json
from bough.cli.output.text import pluralize
from bough.cli.refs import find_session, message_id
from bough.errors import NotFound, Refused
from bough.store import Store


@click.command(
    "delete", epilog=examples("bough delete a1b2c3", "bough delete a1b2c3 --cascade", "bough delete cli:default")
)
@click.argument("names", metavar="ID...", nargs=-1, required=True, type=MESSAGE_OR_SESSION)
@click.option("--cascade", is_flag=True, help="Also delete all descendants.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, names: tuple[str, ...], cascade: bool, as_json: bool) -> None:
    """Delete messages by id, or sessions by name. `bough restore` restores them.

    A message with descendants is deleted only with --cascade, together with them. With a session, the messages that no
    other session reaches are deleted. If an ID does not exist, nothing is deleted.
    """
    with locator.existing() as store:
        keys, ids = resolve(store, names)
        descendants = delete_messages(store, ids, cascade) if ids else 0
        for key in keys:
            store.delete_session(key)
    if as_json:
        print_json({"messages": ids, "sessions": keys, "cascade": cascade})
        return
    for name in [*ids, *keys]:
        echo(f"Deleted {name}. To restore it: bough restore {name}")
    if descendants:
        echo(f"Also deleted: {pluralize(descendants, 'descendant')}.")


def resolve(store: Store, names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The keys of sessions and the ids of messages for `names`. Raises `NotFound` and `Ambiguous`."""
    keys, ids = [], []
    for name in names:
        session = find_session(store, name)
        if session is not None:
            keys.append(session.key)
        else:
            try:
                ids.append(message_id(store, name))
            except NotFound as error:
                raise NotFound(f"{error} Nothing was deleted.") from None
    return keys, ids


def explain(store: Store, ids: list[str]) -> str | None:
    """Why messages with descendants are not deleted, and the commands that delete more; None for another reason."""
    below = {id: sum(1 for tree in store.outline(id) for _ in tree.walk()) - 1 for id in ids}
    id = next((id for id, count in below.items() if count), None)
    if id is None:
        return None
    through = [info.key for info in store.sessions_through(id)]
    session = f"; `bough delete {through[0]}` deletes the conversation {through[0]}" if len(through) == 1 else ""
    follow = "1 message follows" if below[id] == 1 else f"{below[id]:,} messages follow"
    return f"{follow} {id!r}; nothing was deleted. --cascade deletes them too{session}."


def delete_messages(store: Store, ids: list[str], cascade: bool) -> int:
    """Delete messages; returns the number of descendants that were deleted with them. Raises `Refused`."""
    try:
        store.delete_messages(ids, recursive=cascade)
    except Refused as error:
        raise Refused(explain(store, ids) or str(error)) from None
    return store.trash()[0].messages - len(set(ids))
