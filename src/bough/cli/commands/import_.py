"""`bough import`: import conversations of other programs, repeatedly if needed."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from bough.cli.locate import Locator
from bough.cli.options import json_option, store_options
from bough.cli.output import console
from bough.cli.output.text import one_line, pluralize
from bough.errors import BoughError, ImporterError, Invalid

if TYPE_CHECKING:
    from bough.cli.commands.import_plan import Reading
    from bough.cli.commands.import_run import ImportCounts

MAX_SKIPPED = 10
"""Skipped items that are listed per path."""

Update: TypeAlias = Callable[[int, int], None]
"""A function of the numbers of conversations and messages so far."""


@click.command(name="import")
@store_options
@json_option
@click.option("--from", "source", metavar="NAME", help="The source of the files, if it is not detected.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported; write nothing.")
@click.option("--again", is_flag=True, help="Also import what was deleted here.")
@click.option("--watch", is_flag=True, help="Keep importing what is added to these files, until Ctrl+C.")
@click.option("--discover", is_flag=True, help="Import what known programs have on this machine, after a question.")
@click.option("-y", "--yes", is_flag=True, help="Import what was discovered without the question.")
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@click.pass_obj
def command(
    locator: Locator, paths: tuple[str, ...], source: str | None, dry_run: bool, again: bool, watch: bool,
    discover: bool, yes: bool, as_json: bool,
) -> None:  # fmt: skip
    """Import conversations from files, directories and zips of other programs. Without PATH, look for them here.

    All branches are imported. A repeated import adds only what is new, and reads only what was changed of a directory;
    what you deleted here stays deleted. - is stdin. The programs and their places: docs/importing.md.
    """
    if "" in paths:
        raise ImporterError("An empty path names no file; nothing was imported. The current directory is `.`.")
    if paths and discover:
        raise Invalid("Name paths, or let --discover find them; not both.")
    from bough.cli.commands.import_plan import plan
    from bough.cli.commands.import_run import ImportRun, watch_files

    with spooled(paths) as given, locator.existing(missing_ok=True) if dry_run else locator.store() as store:
        if not paths:
            from bough.cli.commands.import_discover import agreed, discovered

            readings = discovered(store, again)
            if not agreed(
                readings, ask=not (yes or dry_run), as_json=as_json, wanted=discover or yes or watch or dry_run
            ):
                return
            failed: list[BoughError] = []
        else:
            readings, failed = plan(store, given, source, again)
        run = ImportRun(store, dry_run=dry_run, again=again)
        results = []
        with progress(readings) as update:
            for reading in readings:
                try:
                    results.append(reading.run(run, update))
                except BoughError as error:
                    failed.append(error)
                    results += run.unfinished
        if not dry_run and not failed:
            for ledger in {id(reading.ledger): reading.ledger for reading in readings}.values():
                ledger.remember_rest([reading.found for reading in readings])
        report(results, failed, dry_run, as_json)
        if watch:
            found = [reading.found for reading in readings]
            watch_files(run, found, lambda counts: report([counts], [], dry_run, as_json))
            return
    finish(results, failed)


def finish(results: list[ImportCounts], failed: list[BoughError]) -> None:
    """Raise the last error, or `ImporterError` if no path contained a conversation."""
    if failed:
        raise failed[-1]
    if not any(counts.conversations or counts.unchanged for counts in results):
        raise ImporterError("0 conversations were found; nothing was imported.")


# Output --------------------------------------------------------------------------------------------------------------


def report(results: list[ImportCounts], failed: list[BoughError], dry_run: bool, as_json: bool) -> None:
    if as_json:
        console.print_json([counts.data for counts in results])
    for counts in results if not as_json else ():
        click.echo(summary(counts, dry_run))
        for one in counts.skipped[:MAX_SKIPPED]:
            console.note(f"  skipped {one_line(one.place)}: {one_line(one.reason)}")
        if len(counts.skipped) > MAX_SKIPPED:
            console.note(f"  … and {len(counts.skipped) - MAX_SKIPPED} more; --json lists all.")
    for error in failed[:-1]:
        console.note(f"bough: {one_line(str(error))}")


def summary(counts: ImportCounts, dry_run: bool) -> str:
    if counts.unchanged and not counts.conversations:
        files = pluralize(counts.unchanged, "file")
        return f"{counts.title}: nothing new, {files} unchanged since the last import  {one_line(str(counts.path))}"
    statuses = [f"{number} {status}" for status, number in counts.statuses.items() if number]
    verb = "would add" if dry_run else "added"
    line = f"{counts.title}: {pluralize(counts.conversations, 'conversation')}"
    line += f" ({', '.join(statuses)})" if statuses else ""
    line += f", {verb} {pluralize(counts.added, 'message')}"
    line += f", skipped {len(counts.skipped)}" if counts.skipped else ""
    line += f", {pluralize(counts.unchanged, 'file')} unchanged" if counts.unchanged else ""
    return f"{line}  {one_line(str(counts.path))}"


@contextmanager
def progress(readings: Sequence[Reading]) -> Iterator[Update]:
    """Show on a terminal how much of all paths was read, and how much was imported from them."""
    from bough.importers.common.files import count_bytes

    title = readings[0].found.path.name if len(readings) == 1 else pluralize(len(readings), "path")
    with console.progress(one_line(title or str(readings[0].found.path))) as update:
        if update is None or not readings:
            yield lambda *_: None
            return
        sizes = [reading.size for reading in readings]
        total = None if None in sizes else sum(filter(None, sizes))
        done, imported = 0, ""

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
    """The paths. Stdin, for `-`, is copied to a private file first."""
    with tempfile.TemporaryDirectory(prefix="bough-import-") as directory:
        found = []
        for path in paths:
            if path == "-":
                spool = Path(directory, "stdin")
                with spool.open("wb") as file:
                    while chunk := sys.stdin.buffer.read(2**20):
                        file.write(chunk)
                found.append(spool)
            else:
                found.append(Path(path).expanduser())
        yield found
