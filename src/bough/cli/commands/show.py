"""`bough show [ID]`: the dialog up to a message or to the head of a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from bough.cli.here import continued_here
from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import print_json, print_lines
from bough.cli.output.transcript import Folding, transcript
from bough.cli.refs import message_id
from bough.errors import Invalid
from bough.model import Node, TurnInfo
from bough.model.times import iso
from bough.store import Store


@click.command(
    "show",
    epilog=examples(
        "bough show                    this directory's conversation", "bough show a1b2c3",
        "bough show cli:default --last 4",
        "bough show a1b2c3 --json | jq -r '.messages[-1].text'",
    ),
)  # fmt: skip
@click.argument("name", metavar="[ID]", required=False, type=MESSAGE_OR_SESSION)
@click.option("--here", is_flag=True, help="This directory's conversation, as without ID.")
@click.option("-n", "--last", metavar="N", type=click.IntRange(min=1), help="Only the last N messages.")
@click.option("--thinking", is_flag=True, help="Show thinking.")
@click.option("--tools", is_flag=True, help="Show tool calls and results in full.")
@json_option
@store_options
@click.pass_obj
def command(
    locator: Locator, name: str | None, here: bool, last: int | None, thinking: bool, tools: bool, as_json: bool
) -> None:
    """Print the dialog up to message ID or to the head of session ID; without ID, this directory's conversation."""
    if name and here:
        raise Invalid("--here and ID both name a conversation; use one of them.")
    with locator.existing() as store:
        path = store.path(message_id(store, name) if name else continued_here(store), last)
        turns = turns_of(store, path)
    if as_json:
        print_json({"id": path[-1].id, "messages": [node_json(node, turns.get(node.turn_id or "")) for node in path]})
    else:
        print_lines(transcript(path, turns, Folding(thinking, tools)))


def turns_of(store: Store, path: Sequence[Node]) -> dict[str, TurnInfo]:
    """The turns of a path, by id."""
    ids = {node.turn_id for node in path if node.turn_id is not None}
    return {turn.id: turn for turn in store.list_turns(of=sorted(ids))}


def node_json(node: Node, turn: TurnInfo | None) -> dict[str, Any]:
    """A message as JSON: its node, provenance, text and blocks."""
    from bough.formats.jsonl import encode_node

    written = {**encode_node(node), "time": iso(node.created_at)}
    blocks = written.pop("blocks")
    model = {"model": turn.model, "status": turn.status} if turn else {}
    return {**written, **model, "text": node.message.text, "blocks": blocks}
