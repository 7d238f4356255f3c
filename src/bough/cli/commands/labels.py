"""`bough labels`: the labels, with the number of messages of each."""

from __future__ import annotations

import click

from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import note, print_json, print_lines
from bough.cli.output.table import table


@click.command("labels", epilog=examples("bough labels", "bough labels --subagents --json"))
@click.option("--subagents", is_flag=True, help="Include the labels of runs of subagents.")
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, subagents: bool, as_json: bool) -> None:
    """List the labels, the most frequent first. `bough search --label TEXT` lists the messages of one."""
    with locator.existing() as store:
        found = store.labels(subagents=subagents)
    if as_json:
        print_json([{"label": label, "messages": count} for label, count in found.items()])
    elif found:
        print_lines(table(("MESSAGES", "LABEL"), [(count, label) for label, count in found.items()], ("MESSAGES",)))
    else:
        note("No message has a label. To label one: bough label ID TEXT")
