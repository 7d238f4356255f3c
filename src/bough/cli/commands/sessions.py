"""`bough sessions`: a table of sessions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, limit_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.times import format_time
from bough.cli.output.titles import listed_title
from bough.cli.refs import session_key
from bough.model import Headline, SessionInfo
from bough.model.previews import SessionPreview
from bough.model.times import iso
from bough.model.tree import Tree
from bough.store import Store

PAGE = 100


@click.command(
    "sessions", epilog=examples("bough sessions", "bough sessions --here", "bough sessions --channel telegram --json")
)
@limit_option(20)
@click.option("--all", "everything", is_flag=True, help="All sessions.")
@click.option("--channel", metavar="NAME", help="Only of this channel: cli, discord, telegram …")
@click.option("--here", is_flag=True, help="Only of this directory.")
@click.option("--of", "parent", metavar="SESSION", help="Sessions of subagents that worked for this session.")
@click.option("--label", metavar="TEXT", help="Only with a message that has this label.")
@click.option("--subagents", is_flag=True, help="Include sessions of subagents.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, limit: int, everything: bool, channel: str | None, here: bool, parent: str | None,
    label: str | None, subagents: bool, as_json: bool,
) -> None:  # fmt: skip
    """List sessions, the most recently used first."""
    with locator.existing() as store:
        found = store.sessions(
            channel=channel, directory=os.getcwd() if here else None, parent=session_key(store, parent),
            label=label, delegates=subagents or parent is not None, limit=None if everything else limit + 1,
        )  # fmt: skip
        chosen = found if everything else found[:limit]
        if as_json:
            print_json([session_json(info) for info in chosen])
        elif not chosen:
            note("No sessions found.")
        else:
            print_lines(session_table(store, chosen))
    if len(found) > len(chosen):
        note("There are more; --all shows them, -n N shows N.")


def session_table(
    store: Store, sessions: Iterable[SessionInfo], strays: Iterable[Tree[Headline]] = ()
) -> Iterator[str]:
    """A table of sessions, and of `strays`: trees without a session. A session without a title shows its question."""
    rows = (
        (shown.info.key, format_time(shown.info.updated_at), shown.info.head_id, listed_title(shown) or "(empty)")
        for shown in previews(store, sessions)
    )
    newest = (tree.newest for tree in strays)
    others = (("–", format_time(last.created_at), last.id, last.words) for last in newest)
    return table(("SESSION", "LAST USED", "AT", "TITLE OR QUESTION"), chain(rows, others))


def previews(store: Store, sessions: Iterable[SessionInfo]) -> Iterator[SessionPreview]:
    """The previews of sessions, a page in memory at a time."""
    left = iter(sessions)
    while page := list(islice(left, PAGE)):
        yield from store.previews(page)


def session_json(info: SessionInfo) -> dict[str, Any]:
    return {
        "session": info.key,
        "channel": info.channel,
        "head": info.head_id,
        "title": info.title,
        "directory": info.directory,
        "agent": info.agent,
        "model": info.model,
        "parent": info.parent_key,
        "parent_message": info.parent_message_id,
        "forked_from": info.forked_from,
        "extra": info.extra,
        "created": iso(info.created_at),
        "updated": iso(info.updated_at),
    }
