"""`bough db …`: maintenance of the store, a file or a server."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from bough.cli import pointers
from bough.cli.locate import Locator, StoreLocation, working_directory
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import echo, note, print_json, progress
from bough.cli.output.text import one_line, pluralize
from bough.engines import connect
from bough.errors import Corrupt, Invalid, NotFound, Refused
from bough.locations import is_server_url
from bough.model import Finding
from bough.store import Store

HERE = ".bough.db"
"""The store that `init --here` creates."""


@click.group(
    "db",
    epilog=examples(
        "bough db path",
        "bough db verify",
        "bough db backup",
        "bough db backup ~/chats.bak.db",
        "bough db copy chats.db postgresql://localhost/chats",
        "bough db init --here",
        "bough db init --distributed --db postgresql://coordinator/chats",
        "bough db allow .bough",
    ),
)
def command() -> None:
    """Maintain the store: init, allow, path, verify, backup, copy, vacuum, migrate."""


def open_existing(locator: Locator) -> Store:
    """Open the store, which must exist. Raises `NotFound`."""
    found = locator.find()
    if found.path is not None and not found.path.exists():
        raise NotFound(f"There is no store at {found.where!r} (from {found.source}).")
    return locator.store()


@command.command()
@click.option("--here", is_flag=True, help="A store for this directory and all below, named by a .bough file.")
@click.option("--distributed", is_flag=True, help="Distribute the tables over a Citus cluster, by namespace.")
@json_option
@store_options
@click.pass_obj
def init(locator: Locator, here: bool, distributed: bool, as_json: bool) -> None:
    """Create the store if it does not exist. Every command that writes does this too."""
    found = make_pointer(locator) if here else locator.find()
    connect(found.where).close() if here else locator.store().close()
    spread = distribute(found.where) if distributed else []
    words = "The store exists."
    if distributed:
        words = (
            f"The store exists; {len(spread)} tables were distributed over the cluster, by namespace. Row-level "
            "security does not apply to their owner: let applications connect as another role."
        )
    report(as_json, {"path": found.shown, "distributed": spread}, words)


def make_pointer(locator: Locator) -> StoreLocation:
    """Write a `.bough` file in the working directory; returns its store: that of `--db`, or a file beside it."""
    pointer, named = Path(working_directory(), pointers.POINTER), locator.db or HERE
    if is_server_url(named):
        raise Invalid("--here creates a file. Write the URL into .bough yourself, then `bough db allow .bough`.")
    content = f"{named}\n".encode()
    found = StoreLocation(pointers.store_named_by(pointer, content), str(pointer))
    try:
        with pointer.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise Refused(
            f"{str(pointer)!r} exists and was not changed; `bough db allow {pointers.POINTER}` uses it."
        ) from None
    except OSError as error:
        raise Refused(f"{str(pointer)!r} cannot be written: {error.strerror}.") from None
    pointers.allow(pointer, content)
    return found


@command.command()
@click.argument("file", required=False, type=click.Path())
@click.option("--list", "listed", is_flag=True, help="List the files that are allowed.")
@click.option("--remove", is_flag=True, help="Take FILE off the list.")
@json_option
@click.pass_obj
def allow(locator: Locator, file: str | None, listed: bool, remove: bool, as_json: bool) -> None:  # noqa: ARG001
    """Use the store that FILE names, a .bough file that bough did not make here, until it changes.

    Read it first: conversations in its directory and below will go to that store. A directory means the .bough in it.
    """
    if listed or file is None:
        list_allowed(as_json)
        return
    pointer = Path(file, pointers.POINTER) if os.path.isdir(file) else Path(file)
    if remove:
        known = pointers.forget(pointer)
        report(as_json, {"file": str(pointer), "removed": known}, "Removed." if known else "It was not on the list.")
        return
    content = pointers.read(pointer)
    named = StoreLocation(pointers.store_named_by(pointer.absolute(), content), str(pointer))
    pointers.allow(pointer, content)
    words = f"{os.path.realpath(pointer)} is allowed: it names {named.shown}"
    report(as_json, {"file": os.path.realpath(pointer), "store": named.shown}, words)


def list_allowed(as_json: bool) -> None:
    """Print the `.bough` files on the list; those that have changed, or are gone, are not used."""
    states = {file: pointer_state(Path(file)) for file in sorted(pointers.load_allowed())}
    if as_json:
        print_json([{"file": file, "state": state} for file, state in states.items()])
        return
    for file, state in states.items():
        echo(f"{one_line(file)}{'' if state == 'allowed' else f' ({state})'}")


def pointer_state(pointer: Path) -> str:
    try:
        return "allowed" if pointers.is_allowed(pointer, pointers.read(pointer)) else "changed"
    except NotFound:
        return "missing"


def distribute(where: str) -> list[str]:
    """Distribute the tables over a cluster; returns their names. Raises `Invalid` for a file."""
    if not is_server_url(where):
        raise Invalid(f"{where!r} is a file; only a PostgreSQL cluster can distribute tables.")
    from bough.db.postgres import tenancy

    return tenancy.distribute(where)


@command.command()
@json_option
@store_options
@click.pass_obj
def path(locator: Locator, as_json: bool) -> None:
    """Print the location of the store, without a password; where it is configured goes to stderr."""
    found = locator.find()
    exists = None if found.path is None else found.path.exists()
    if as_json:
        passed_over = [str(pointer) for pointer in locator.passed_over]
        print_json({"path": found.shown, "from": found.source, "exists": exists, "passed_over": passed_over})
        return
    echo(found.shown)
    note(f"(from {found.source}{'; does not exist yet' if exists is False else ''})")


@command.command()
@click.option("--repair", is_flag=True, help="Repair what can be repaired without losing anything.")
@json_option
@store_options
@click.pass_obj
def verify(locator: Locator, repair: bool, as_json: bool) -> int:
    """Check the integrity of everything stored. The exit status is 1 if a problem is left."""
    with open_existing(locator) as store:
        with progress("Checking") as update:
            findings = store.verify(repair, update)
        messages = pluralize(store.size().messages, "message")
    if as_json:
        print_json([finding_json(one) for one in findings])
    for one in findings if not as_json else ():
        echo(one_line(f"{one.code}: {one.subject}: {one.detail}") + (" (repaired)" if one.repaired else ""))
    left = sum(not one.repaired for one in findings)
    note(f"{messages} checked. {verdict(len(findings), left)}")
    return 1 if left else 0


def finding_json(one: Finding) -> dict[str, Any]:
    return {"code": one.code, "subject": one.subject, "detail": one.detail, "repaired": one.repaired}


def verdict(found: int, left: int) -> str:
    if left:
        return f"{pluralize(left, 'problem')} left; everything else can still be read and exported."
    return "All problems repaired." if found else "No problems found."


@command.command()
@click.argument("target", metavar="[FILE]", required=False, type=click.Path())
@json_option
@store_options
@click.pass_obj
def backup(locator: Locator, target: str | None, as_json: bool) -> None:
    """Write a copy to FILE, also during writes; without FILE, beside the store with the time in its name."""
    with open_existing(locator) as store:
        target = target or f"{locator.find().where}.{time.strftime('%Y%m%d-%H%M%S')}.backup"
        store.backup(target)
    size = os.path.getsize(target)
    if as_json:
        print_json({"path": target, "bytes": size})
    else:
        echo(target)
        note(f"{size:,} bytes")


@command.command()
@json_option
@store_options
@click.pass_obj
def vacuum(locator: Locator, as_json: bool) -> None:
    """Return the space of deleted data to the file system."""
    before = size_of(locator)
    with open_existing(locator) as store:
        store.db.vacuum()
    after = size_of(locator)
    words = "Done." if before is None else f"{before:,} → {after:,} bytes"
    report(as_json, {"bytes_before": before, "bytes_after": after}, words)


@command.command()
@json_option
@store_options
@click.pass_obj
def migrate(locator: Locator, as_json: bool) -> None:
    """Migrate an older store to the current schema, after a backup, and rewrite the rows of older versions.

    Opening a store migrates the schema too. Rows are rewritten in short transactions: others can go on writing, and a
    run that was interrupted is continued by the next.
    """
    from bough.db.migrations import VERSION

    with open_existing(locator) as store, progress("Rewriting") as update:
        rewritten = store.migrate(update)
    words = f"The store has the current schema ({VERSION}); {pluralize(rewritten, 'row')} rewritten."
    report(as_json, {"schema": VERSION, "rewritten": rewritten}, words)


@command.command()
@click.argument("source", type=click.Path())
@click.argument("target", type=click.Path())
@click.option("--source-namespace", help="The namespace to copy from, on PostgreSQL.")
@click.option("--target-namespace", help="The namespace to copy to, on PostgreSQL.")
@json_option
def copy(source: str, target: str, source_namespace: str | None, target_namespace: str | None, as_json: bool) -> None:
    """Make TARGET a copy of SOURCE: files or postgresql:// URLs. A repeated copy transfers only the changes.

    TARGET must be empty or an earlier copy. The copy is compared with the source, and every message is checked against
    its digest.
    """
    if not is_server_url(source) and not os.path.exists(source):
        raise NotFound(f"There is no store at {source!r}.")
    with connect(source, namespace=source_namespace) as one, connect(target, namespace=target_namespace) as other:
        with progress("Copying") as update:
            copied = one.copy_to(other, update)
        if findings := other.verify():
            raise Corrupt(f"The copy is damaged: {findings[0].subject}: {findings[0].detail}. Keep the source.")
    facts = {"messages": copied.messages, "bytes": copied.bytes, "sessions": copied.sessions, "removed": copied.removed}
    report(
        as_json,
        facts,
        f"{copied.messages:,} messages copied ({copied.bytes:,} bytes), {copied.removed:,} removed. Verified.",
    )


def size_of(locator: Locator) -> int | None:
    """The size of the file with its write-ahead log; None for a server."""
    path = locator.find().path
    if path is None:
        return None
    return sum(os.path.getsize(f"{path}{end}") for end in ("", "-wal") if os.path.exists(f"{path}{end}"))


def report(as_json: bool, facts: dict[str, Any], words: str) -> None:
    if as_json:
        print_json(facts)
    else:
        note(words)
