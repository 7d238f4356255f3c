"""`bough export ID…`: write conversations for people, for other programs, or as a provider's messages."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from bough import exporters, formats
from bough.cli.locate import Locator
from bough.cli.options import MESSAGE_OR_SESSION, examples, store_options
from bough.cli.output.console import json_text, note, on_terminal
from bough.cli.output.text import one_line, pluralize, sanitize
from bough.cli.output.times import to_minute
from bough.cli.refs import message_id
from bough.errors import Invalid, Refused

if TYPE_CHECKING:
    from bough.store import Store

JSONL = "jsonl"
EMPTY = "There is nothing to export."
INDEXES = {
    "html": (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        "<title>Conversations</title><style>body{font:16px/1.6 system-ui;max-width:46rem;margin:2rem auto;"
        "padding:0 1rem;color-scheme:light dark}li{margin:.4rem 0}small{opacity:.7}</style></head><body>"
        "<h1>Conversations</h1><ul>\n",
        '<li><a dir="auto" href="{id}.html">{title}</a> <small>{time} · {count}</small></li>\n',
        "</ul></body></html>\n",
    ),
    "md": ("# Conversations\n\n", "- [{title}]({id}.md) {time} · {count}\n", ""),
}
"""Beginning, line and end of the index of a directory of conversations, by the ending of its files."""
ARCHIVE = "everything.jsonl"
"""The file name of the whole store in a directory."""
WIRE = tuple(name for name in formats.names() if name != "bough.jsonl")
TABLES = ("sqlite", "parquet")
"""The formats of the whole store as tables."""
FORMATS = (JSONL, *TABLES, *exporters.names(), *WIRE)
ENDINGS = {
    "jsonl": JSONL,
    "sqlite": "sqlite",
    "parquet": "parquet",
    "md": "md",
    "markdown": "md",
    "html": "html",
    "htm": "html",
}
"""The format of a file by its ending."""


@click.command(
    "export",
    epilog=examples(
        "bough export a1b2c3 -f md > talk.md", "bough export cli:default -f html -o talk.html",
        "bough export a1b2c3 -f anthropic", "bough export --all > everything.jsonl", "bough export --all backup/ -f md",
        "bough export a1b2c3 d4e5f6 -f md -o talks/", "bough export --all -o talks.sqlite",
    ),
)  # fmt: skip
@click.argument("names", metavar="ID... | --all [DIRECTORY]", nargs=-1, type=MESSAGE_OR_SESSION)
@click.option(
    "-f",
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    help="The format. Default: that of the ending of FILE, else jsonl.",
)
@click.option(
    "-o", "--output", metavar="FILE", type=click.Path(), help="The output file; for several conversations, a directory."
)
@click.option("--all", "everything", is_flag=True, help="All conversations; into DIRECTORY if given.")
@click.option("--branches/--path", default=None, help="The whole tree, or only the dialog up to ID.")
@click.option("--strict", is_flag=True, help="Fail if the format would lose something, instead of reporting it.")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@store_options
@click.pass_obj
def command(
    locator: Locator, names: tuple[str, ...], format_: str | None, output: str | None, everything: bool,
    branches: bool | None, strict: bool, force: bool,
) -> None:  # fmt: skip
    """Write conversations: as jsonl, which is lossless; as md, html or atif; or as a provider's messages.

    ID is a message or a session. md, html and atif contain every branch of the tree, other formats the dialog up to ID;
    --path and --branches override this. sqlite and parquet are tables of the whole store, for analysts: one file, or a
    directory with a file for each table.
    """
    output = None if output == "-" else output
    if everything:
        names, output = (), target_of(names, output)
    elif not names:
        raise Invalid("Name the conversations to export, or use --all.")
    format_ = format_ or format_of(output)
    with locator.existing() as store:
        if format_ in TABLES:
            write_tables(store, format_, everything, output, force)
            return
        ids = [message_id(store, name) for name in names]
        if format_ == JSONL:
            write_jsonl(store, ids, output, force, bool(branches))
            return
        from bough.exporters.collect import conversation_heads

        ids = ids or list(conversation_heads(store))
        ending = extension(format_)
        write_each(ids, output, force, ending, lambda id: conversation_text(store, id, format_, branches, strict))
        if everything and ids and output is not None and is_directory(output) and ending in INDEXES:
            write_output(os.path.join(output, f"index.{ending}"), force, index_lines(store, ids, ending))


def format_of(output: str | None) -> str:
    """The format that the ending of a file names; jsonl without a file or an ending. Raises `Invalid`."""
    if output is None or is_directory(output):
        return JSONL
    ending = os.path.splitext(output)[1].lstrip(".").lower()
    if ending in ENDINGS or not ending:
        return ENDINGS.get(ending, JSONL)
    if ending == "json":
        raise Invalid(f"Several formats are JSON; name one with -f: atif, {', '.join(WIRE)}.")
    known = ", ".join(f".{one}" for one in dict.fromkeys(ENDINGS))
    raise Invalid(f"No format is written as .{ending}; the endings are {known}, and -f names any format.")


def index_lines(store: Store, ids: list[str], ending: str) -> Iterator[str]:
    """A page that links the exported conversations, the most recently active first."""
    from html import escape

    from bough.exporters.collect import title_of

    before, line, after = INDEXES[ending]
    yield before
    for id in reversed(ids):
        path = store.path(id)
        keys = [info.key for info in store.sessions_through(id) if info.head_id == id]
        info = store.find_session(keys[0]) if keys else None
        title = one_line(title_of(info, path))
        title = escape(title) if ending == "html" else re.sub(r"([\\\[\]`*_<>])", r"\\\1", title)
        yield line.format(
            id=id, title=title, time=to_minute(path[-1].created_at), count=pluralize(len(path), "message")
        )
    yield after


def write_jsonl(store: Store, ids: list[str], output: str | None, force: bool, branches: bool) -> None:
    """Write these conversations as JSONL; without ids the whole store, to `ARCHIVE` if `output` is a directory."""
    from bough.exporters import jsonl

    if ids:
        write_output(output, force, jsonl.some(store, ids, branches))
        return
    size = store.size()
    if not (size.messages or size.sessions):
        note(EMPTY)
        return
    if output is not None and is_directory(output):
        os.makedirs(output, exist_ok=True)
        output = os.path.join(output, ARCHIVE)
    write_output(output, force, jsonl.everything(store))


def write_tables(store: Store, format_: str, everything: bool, output: str | None, force: bool) -> None:
    """Write the whole store as tables. Raises `Invalid` for a part of it, and without a place to write to."""
    from bough.exporters import tables

    if not everything or output is None:
        raise Invalid(f"{format_} is for the whole store, in a file or a directory: --all -o {example_of(format_)}.")
    if format_ == "sqlite":
        target = os.path.join(output, "everything.sqlite") if is_directory(output) else output
        writers = {target: lambda draft: tables.write_sqlite(store, draft)}
    else:
        writers = {
            os.path.join(output, f"{table}.parquet"): partial(tables.write_parquet, store, table)
            for table in tables.COLUMNS
        }
    for target in writers:
        check_absent(os.path.realpath(target), force)
    for target, write in writers.items():
        os.makedirs(os.path.dirname(os.path.realpath(target)), exist_ok=True)
        write_draft(os.path.realpath(target), write)
        note(f"Wrote {target}")


def example_of(format_: str) -> str:
    return "talks.sqlite" if format_ == "sqlite" else f"talks{os.sep}"


def conversation_text(store: Store, id: str, format_: str, branches: bool | None, strict: bool) -> Iterator[str]:
    """One conversation in any format but jsonl. Raises `Invalid`, `NotFound`, and `FormatError` if `strict`."""
    if format_ in exporters.names():
        from bough.exporters.collect import collect

        yield from exporters.get(format_).write(collect(store, id, branches=branches is not False))
        return
    if branches:
        raise Invalid(f"{format_} contains one dialog, and no branches.")
    encoded = formats.get(format_).encode([node.message for node in store.path(id)], strict)
    for loss in encoded.losses:
        note(f"{id}: lost in {format_}: {sanitize(loss.detail)}")
    yield json_text(encoded.payload, 2) + "\n"


def extension(format_: str) -> str:
    return exporters.get(format_).extension.lstrip(".") if format_ in exporters.names() else "json"


def target_of(names: tuple[str, ...], output: str | None) -> str | None:
    """The target of --all: the directory after it, or that of -o. Raises `Invalid` if there is more than one."""
    if len(names) + (output is not None) > 1:
        raise Invalid("--all exports everything to one place: name no conversations, and only one directory.")
    return os.path.join(names[0], "") if names else output


# Files ---------------------------------------------------------------------------------------------------------------


def write_each(
    ids: list[str], output: str | None, force: bool, ending: str, text_of: Callable[[str], Iterator[str]]
) -> None:
    """Write each conversation to a file of its own. Raises `Invalid` for several without a directory."""
    if not ids:
        note(EMPTY)
        return
    if len(ids) == 1 and not is_directory(output):
        write_output(output, force, text_of(ids[0]))
        return
    if output is None:
        raise Invalid(f"{len(ids)} conversations need a directory: -o DIRECTORY.")
    os.makedirs(output, exist_ok=True)
    for id in ids:
        write_output(os.path.join(output, f"{id}.{ending}"), force, text_of(id))


def is_directory(output: str | None) -> bool:
    return output is not None and (output.endswith(os.sep) or os.path.isdir(output))


def write_output(output: str | None, force: bool, pieces: Iterator[str]) -> None:
    """Write to stdout, or to a file that appears only when it is complete. Raises `Refused` if the file exists."""
    if output is None:
        clean = sanitize if on_terminal() else str
        if isinstance(sys.stdout, TextIOWrapper) and not on_terminal():
            sys.stdout.reconfigure(encoding="utf-8", errors="replace", newline="\n")  # the same bytes as in a file
        for piece in pieces:
            sys.stdout.write(clean(piece))
        return
    target = os.path.realpath(output)
    if not os.path.exists(target) or os.path.isfile(target):
        write_file(target, force, pieces)
    else:
        with open(target, "w", encoding="utf-8", newline="\n") as pipe:  # a pipe or a device cannot be replaced
            pipe.writelines(pieces)
    note(f"Wrote {output}")


def write_file(target: str, force: bool, pieces: Iterator[str]) -> None:
    def write(draft: str) -> None:
        with open(draft, "x", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces)

    check_absent(target, force)
    write_draft(target, write)


def check_absent(target: str, force: bool) -> None:
    if os.path.exists(target) and not force:
        raise Refused(f"{target!r} exists and was not changed. --force replaces it.")


def write_draft(target: str, write: Callable[[str], None]) -> None:
    """Write to a draft beside a file, which appears when it is complete."""
    # A name that nobody can have prepared: not as a link to another file, and not as a file that would be lost.
    draft = f"{target}.{os.urandom(4).hex()}.part"
    former = os.umask(0o077)  # conversations are for their owner, also in files that SQLite or DuckDB make
    try:
        write(draft)
        os.replace(draft, target)
    finally:
        os.umask(former)
        with suppress(FileNotFoundError):  # it exists only after a failure
            os.unlink(draft)
