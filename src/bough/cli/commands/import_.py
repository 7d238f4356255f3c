"""`bough import`: conversations of other programs, brought in; again and again, if you like."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from bough.cli.locate import Locator
from bough.cli.options import json_option, store_options
from bough.cli.output import console
from bough.cli.output.text import one_line
from bough.errors import BoughError, ImporterError

if TYPE_CHECKING:
    from bough.cli.commands.import_run import Tally
    from bough.importers.types import Importer

PLACES_SHOWN = 10

Tell: TypeAlias = Callable[[int, int], None]
"""Is told how many conversations and messages there were so far."""


@click.command(name="import")
@store_options
@json_option
@click.option("--from", "source", metavar="NAME", help="What the files are, where bough cannot see it by itself.")
@click.option("--dry-run", is_flag=True, help="Say what would come, and write nothing.")
@click.option("--again", is_flag=True, help="Bring in what was deleted here, too.")
@click.option("--watch", is_flag=True, help="Go on: bring in what is added to these files. Ctrl+C ends it.")
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@click.pass_obj
def command(
    locator: Locator, paths: tuple[str, ...], source: str | None, dry_run: bool, again: bool, watch: bool, as_json: bool
) -> None:
    """Bring in conversations: files, directories and zips of other programs. Without PATH, list what is here.

    Every branch comes along. Importing again adds only what is new; what you deleted here stays deleted. A PATH of - is
    read from stdin. The programs: docs/importing.md.
    """
    if not paths:
        show_places(as_json)
        return
    from bough.cli.commands.import_run import Import, follow

    with spooled(paths) as given, locator.existing(missing_ok=True) if dry_run else locator.store() as store:
        found, failed = resolve(given, source)
        work = Import(store, dry_run=dry_run, again=again)
        tallies = []
        for importer, path in found:
            try:
                with progress(path) as tell:
                    tallies.append(work.run(importer, path, tell))
            except BoughError as error:
                failed.append(error)
                tallies += work.unfinished
        report(tallies, failed, dry_run, as_json)
        if watch:
            follow(work, found, lambda tally: report([tally], [], dry_run, as_json))
            return
    finish(tallies, failed)


def resolve(paths: list[Path], source: str | None) -> tuple[list[tuple[Importer, Path]], list[BoughError]]:
    """Who reads what, and what nobody reads."""
    from bough import importers

    found: list[tuple[Importer, Path]] = []
    failed: list[BoughError] = []
    for path in paths:
        try:
            here = [(importers.get(source), path)] if source else importers.find(path)
            found += here
            failed += importers.refused(path, here)
        except ImporterError as error:
            failed.append(error)
    return found, failed


def finish(tallies: list[Tally], failed: list[BoughError]) -> None:
    """Ends in an error when a path failed, or when there was nothing in any."""
    if failed:
        raise failed[-1]
    if not any(tally.conversations for tally in tallies):
        raise ImporterError("0 conversations were found; nothing was imported.")


# What it says ---------------------------------------------------------------------------------------------------------


def report(tallies: list[Tally], failed: list[BoughError], dry_run: bool, as_json: bool) -> None:
    if as_json:
        console.print_json([tally.data for tally in tallies])
    for tally in tallies if not as_json else ():
        click.echo(summary(tally, dry_run))
        for one in tally.skipped[:PLACES_SHOWN]:
            console.note(f"  skipped {one_line(one.place)}: {one_line(one.reason)}")
        if len(tally.skipped) > PLACES_SHOWN:
            console.note(f"  … and {len(tally.skipped) - PLACES_SHOWN} more; --json lists all.")
    for error in failed[:-1]:
        console.note(f"bough: {one_line(str(error))}")


def summary(tally: Tally, dry_run: bool) -> str:
    counts = [f"{number} {status}" for status, number in tally.statuses.items() if number]
    verb = "would add" if dry_run else "added"
    said = f"{tally.title}: {pluralize(tally.conversations, 'conversation')}"
    said += f" ({', '.join(counts)})" if counts else ""
    said += f", {verb} {pluralize(tally.added, 'message')}"
    return said + (f", skipped {len(tally.skipped)}" if tally.skipped else "") + f"  {one_line(str(tally.path))}"


def pluralize(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def show_places(as_json: bool) -> None:
    """What there is to import on this machine, and what to type."""
    from shlex import quote

    from bough.importers import default_paths, names

    found = default_paths()
    if as_json:
        rows = [{"source": importer.name, "title": importer.title, "path": str(path)} for importer, path in found]
        console.print_json(rows)
        return
    if not found:
        console.note("Nothing was found where other programs keep their conversations.")
    for importer, path in found:
        click.echo(f"{importer.title}: bough import {one_line(quote(str(path)))}")
    console.note(f"Any file, directory or zip can be named: bough import PATH. Known sources: {', '.join(names())}.")


@contextmanager
def progress(path: Path) -> Iterator[Tell]:
    """Show on a terminal how much of a path was read, and how much was imported from it."""
    from bough.cli.commands.import_run import bytes_at
    from bough.importers.common.files import count_bytes

    with console.progress(one_line(path.name or str(path))) as update:
        if update is None:
            yield lambda *_: None
            return
        total, done, imported = bytes_at(path), 0, ""

        def read(size: int) -> None:
            nonlocal done
            done += size
            update(done, total, imported)

        def count(conversations: int, messages: int) -> None:
            nonlocal imported
            imported = f"{pluralize(conversations, 'conversation')}, {pluralize(messages, 'message')}"
            update(done, total, imported)

        with count_bytes(read):
            yield count


@contextmanager
def spooled(paths: tuple[str, ...]) -> Iterator[list[Path]]:
    """The paths; what comes on stdin, for `-`, goes to a private file first."""
    with tempfile.TemporaryDirectory(prefix="bough-import-") as private:
        given = []
        for path in paths:
            if path == "-":
                spool = Path(private, "stdin")
                with spool.open("wb") as file:
                    while chunk := sys.stdin.buffer.read(2**20):
                        file.write(chunk)
                given.append(spool)
            else:
                given.append(Path(path).expanduser())
        yield given
