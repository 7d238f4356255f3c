"""`bough import`: import conversations of other programs, repeatedly if needed."""

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
from bough.cli.output.text import one_line, pluralize
from bough.errors import BoughError, ImporterError

if TYPE_CHECKING:
    from bough.cli.commands.import_run import ImportCounts
    from bough.importers.directories import Found

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
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@click.pass_obj
def command(
    locator: Locator, paths: tuple[str, ...], source: str | None, dry_run: bool, again: bool, watch: bool, as_json: bool
) -> None:
    """Import conversations from files, directories and zips of other programs. Without PATH, list the sources here.

    All branches are imported. A repeated import adds only what is new; what you deleted here stays deleted. - is
    stdin. The programs: docs/importing.md.
    """
    if not paths:
        list_sources(as_json)
        return
    if "" in paths:
        raise ImporterError("An empty path names no file; nothing was imported. The current directory is `.`.")
    from bough.cli.commands.import_run import ImportRun, watch_files

    with spooled(paths) as given, locator.existing(missing_ok=True) if dry_run else locator.store() as store:
        found, failed = resolve(given, source)
        run = ImportRun(store, dry_run=dry_run, again=again)
        results = []
        for one in found:
            try:
                with progress(one.path) as update:
                    results.append(run.read(one, update))
            except BoughError as error:
                failed.append(error)
                results += run.unfinished
        report(results, failed, dry_run, as_json)
        if watch:
            watch_files(run, found, lambda counts: report([counts], [], dry_run, as_json))
            return
    finish(results, failed)


def resolve(paths: list[Path], source: str | None) -> tuple[list[Found], list[BoughError]]:
    """The importer of each path, and an error for each path without one."""
    from bough import importers
    from bough.importers.directories import Found

    found: list[Found] = []
    failed: list[BoughError] = []
    for path in paths:
        try:
            here = [Found(importers.get(source), path)] if source else importers.find(path)
            found += here
            failed += importers.refused(path, here)
        except ImporterError as error:
            failed.append(error)
    return found, failed


def finish(results: list[ImportCounts], failed: list[BoughError]) -> None:
    """Raise the last error, or `ImporterError` if no path contained a conversation."""
    if failed:
        raise failed[-1]
    if not any(counts.conversations for counts in results):
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
    statuses = [f"{number} {status}" for status, number in counts.statuses.items() if number]
    verb = "would add" if dry_run else "added"
    line = f"{counts.title}: {pluralize(counts.conversations, 'conversation')}"
    line += f" ({', '.join(statuses)})" if statuses else ""
    line += f", {verb} {pluralize(counts.added, 'message')}"
    return line + (f", skipped {len(counts.skipped)}" if counts.skipped else "") + f"  {one_line(str(counts.path))}"


def list_sources(as_json: bool) -> None:
    """List the sources on this machine, each with the command that imports it."""
    from shlex import quote

    from bough.importers import default_paths, names

    found = default_paths()
    if as_json:
        rows = [{"source": one.importer.name, "title": one.importer.title, "path": str(one.path)} for one in found]
        console.print_json(rows)
        return
    if not found:
        console.note("No conversations of other programs were found.")
    for one in found:
        click.echo(f"{one.importer.title}: bough import {one_line(quote(str(one.path)))}")
    console.note(f"To import any file, directory or zip: bough import PATH. Sources: {', '.join(names())}.")


@contextmanager
def progress(path: Path) -> Iterator[Update]:
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
