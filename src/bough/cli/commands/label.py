"""`bough label ID TEXT`: the label of a message."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, json_option, store_options
from bough.cli.output.console import echo, print_json
from bough.cli.output.text import one_line
from bough.cli.refs import message_id


@click.command(
    "label", epilog=examples("bough label a1b2c3 decision", "bough label a1b2c3", "bough label a1b2c3 --remove")
)
@click.argument("name", metavar="ID", type=MESSAGE_OR_SESSION)
@click.argument("words", metavar="[TEXT]...", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove the label.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, name: str, words: tuple[str, ...], remove: bool, as_json: bool) -> None:
    """Label a message; without TEXT, print its label. `bough search --label` finds it."""
    with locator.existing() as store:
        id = message_id(store, name)
        if words or remove:
            store.label(id, None if remove else " ".join(words))
        (headline,) = store.headlines([id])
    if as_json:
        print_json({"id": id, "label": headline.label})
    elif headline.label:
        echo(one_line(headline.label))
