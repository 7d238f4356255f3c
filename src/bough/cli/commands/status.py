"""`bough status`: where you are: the store, this directory's conversation, unfinished turns, the model, costs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from bough.cli.ask.choose import find_last
from bough.cli.commands.stats import price, tokens
from bough.cli.locate import Locator, working_directory
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import columns, print_json, print_lines, styled
from bough.cli.output.text import one_line, plain_line, truncate
from bough.cli.output.times import format_time

if TYPE_CHECKING:
    from bough.model import SessionInfo
    from bough.store import Store

MOST = 10
"""Unfinished turns that are listed, at most."""


@click.command("status", epilog=examples("bough status", "bough status --json | jq -r .conversation.session"))
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, as_json: bool) -> None:
    """Show the store, what this directory continues, unfinished turns, the model and today's costs."""
    with locator.existing() as store:
        found = collect(locator, store)
    if as_json:
        print_json(found)
    else:
        print_lines(status_lines(found))


def collect(locator: Locator, store: Store) -> dict[str, Any]:
    """The status as JSON."""
    directory = working_directory()
    location = locator.find()
    info = find_last(store, directory, empty=True)
    midnight = datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    (today,) = store.usage(since=midnight)
    return {
        "store": location.shown,
        "store_from": location.source,
        "messages": store.size().messages,
        "directory": directory,
        "conversation": conversation_json(store, info) if info else None,
        "unfinished": unfinished(store, info),
        "model": model_of(locator, info),
        "today": {
            "turns": today.turns,
            "input_tokens": today.usage.input_tokens,
            "output_tokens": today.usage.output_tokens,
            "cost": today.usage.cost,
            "turns_of_unknown_cost": today.unpriced,
            "text": f"{tokens(today)} tokens · {price(today)}" if today.turns else "nothing",
        },
    }


def conversation_json(store: Store, info: SessionInfo) -> dict[str, Any]:
    head = store.headlines([info.head_id])[0] if info.head_id else None
    return {
        "session": info.key,
        "title": info.title,
        "head": info.head_id,
        "last_words": plain_line(head.words) if head else None,
        "used": info.updated_at and format_time(info.updated_at),
    }


def unfinished(store: Store, info: SessionInfo | None) -> list[dict[str, Any]]:
    """The turns that can be resumed: those of this conversation, then interrupted ones of others."""
    here = store.session(info.key).unfinished if info else []
    elsewhere = [turn for turn in store.turns(status="interrupted", limit=MOST) if turn.session]
    turns = {turn.id: turn for turn in [*here, *elsewhere]}
    words = {one.id: plain_line(one.words) for one in store.headlines(list(turns))}
    return [
        {"turn": turn.id, "session": turn.session, "status": turn.status, "question": words[turn.id],
         "here": info is not None and turn.session == info.key, "command": f"bough run --resume {turn.id}"}
        for turn in list(turns.values())[:MOST]
    ]  # fmt: skip


def model_of(locator: Locator, info: SessionInfo | None) -> str:
    """The model that answers the next question here."""
    from bough.errors import ConfigError
    from bough.runtime.settings import AgentOptions, agent_settings, choose_model, choose_name

    config, options = locator.settings(), AgentOptions()
    run = config.table("run")
    try:
        settings = agent_settings(config, run, choose_name(config, options, info))
    except ConfigError:
        settings = agent_settings(config, run, None)
    return choose_model(config, settings, options, info)


def status_lines(found: dict[str, Any]) -> Iterator[str]:
    def row(name: str, text: str) -> str:
        return f"{styled(f'{name:<13}', 'dim')} {one_line(text)}"

    def words(text: str) -> str:
        return truncate(text, max(20, columns() - 14))

    yield row("Store", f"{found['store']} (from {found['store_from']}), {found['messages']:,} messages")
    yield row("Directory", found["directory"])
    talk = found["conversation"]
    if talk is None:
        yield row("Conversation", 'none here yet; the next question starts one: bough "…"')
    else:
        title = f" “{talk['title']}”" if talk["title"] else ""
        yield row("Conversation", f"{talk['session']}{title}, {talk['used']}")
        yield row("Here", words(f"{talk['head']} {talk['last_words']}") if talk["head"] else "before the first message")
    yield row("Model", found["model"])
    yield row("Today", found["today"]["text"])
    for turn in found["unfinished"]:
        where = "here" if turn["here"] else f"in {turn['session']}"
        yield row("Unfinished", words(f"{turn['turn']} {turn['status']} {where}: {turn['question']}"))
        yield row("", turn["command"])
