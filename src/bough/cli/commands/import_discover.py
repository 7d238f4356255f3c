"""`bough import` without a path: what known programs have on this machine, and how much of it is new."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

import click

from bough import importers
from bough.cli.commands.import_ledger import ImportLedger
from bough.cli.commands.import_plan import Reading, read_changed
from bough.cli.output import console
from bough.cli.output.text import one_line, pluralize
from bough.importers.unsupported import unsupported_paths

if TYPE_CHECKING:
    from bough.store import Store


def discovered(store: Store, again: bool) -> list[Reading]:
    """What known programs have in their default places."""
    found = importers.default_paths()
    return [read_changed(one, ImportLedger(store, one.path, again)) for one in found]


def agreed(readings: Sequence[Reading], *, ask: bool, as_json: bool, wanted: bool) -> bool:
    """Show what was found; whether to import it. Only a terminal is asked, and without one it must be wanted."""
    if as_json and not wanted:
        console.print_json([data(reading) for reading in readings])
        return False
    for reading in readings:
        console.note(line(reading))
    for title, place in unsupported_paths():
        console.note(f"{title}: cannot be imported  {one_line(str(place))}")
    if not readings:
        console.note("No conversations of other programs were found. To import any path: bough import PATH.")
        return False
    if not ask:
        return wanted
    if not sys.stdin.isatty():
        if not wanted:
            for reading in readings:
                path = one_line(quote(str(reading.found.path)))
                click.echo(f"{reading.found.importer.title}: bough import {path}")
        console.note("To import all of them: bough import --discover --yes. To import any path: bough import PATH.")
        return False
    return click.confirm("Import what is new?", default=True, err=True)


def new_files(reading: Reading) -> int:
    if reading.parts is not None:
        return len(reading.parts)
    return len(reading.ledger.files) or 1


def data(reading: Reading) -> dict[str, object]:
    found = reading.found
    return {
        "source": found.importer.name,
        "title": found.importer.title,
        "path": str(found.path),
        "files": new_files(reading) + reading.unchanged,
        "new": new_files(reading),
        "bytes": reading.size,
    }


def line(reading: Reading) -> str:
    new, files = new_files(reading), new_files(reading) + reading.unchanged
    size = f", {reading.size / 1e6:,.1f} MB" if new and reading.size is not None else ""
    what = "nothing new" if not new else f"{new:,} new or changed{size}"
    return f"{reading.found.importer.title}: {pluralize(files, 'file')}, {what}  {one_line(str(reading.found.path))}"
