"""`bough sql`: read the store with SQL."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import click

from bough.cli.locate import Locator
from bough.cli.options import examples, json_option, store_options
from bough.cli.output.console import note, on_terminal, print_json, print_lines
from bough.cli.output.table import table
from bough.cli.output.text import sanitize
from bough.db import Row
from bough.errors import Invalid, NotFound
from bough.exporters.tables import block_text, message_text
from bough.store import Store

TABLE_ROWS = 100


@click.command(
    "sql",
    epilog=examples(
        'bough sql "SELECT role, count(*) FROM bough_messages GROUP BY role"',
        'bough sql "SELECT model, sum(cost) AS cost FROM bough_replies GROUP BY model" --json',
        "bough sql \"SELECT id, bough_text(id) AS text FROM bough_messages WHERE role = 'user'\" --csv > said.csv",
        "bough sql - < query.sql",
    ),
)
@click.argument("query", metavar="SELECT")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(min=1),
    help=f"Number of rows.  [default: {TABLE_ROWS} in a table, all in JSON and CSV]",
)  # fmt: skip
@json_option
@store_options
@click.pass_obj
def command(locator: Locator, query: str, limit: int | None, as_csv: bool, as_json: bool) -> None:
    """Read the store with SQL; nothing can be changed.

    The views bough_messages, bough_replies, bough_turns and bough_sessions are described in docs/sql.md. In a file,
    bough_text(id) is the whole text of a message, and bough_text(id, position) that of one block. SELECT may be - for
    stdin.
    """
    if as_csv and as_json:
        raise Invalid("Choose one of --json and --csv.")
    text = sys.stdin.read() if query == "-" else query
    if not text.strip():
        raise Invalid("The statement is empty; try SELECT * FROM bough_sessions.")
    with locator.existing() as store, store.db.select(text, {"bough_text": text_function(store)}) as (columns, rows):
        if as_json:
            names = distinct(columns)
            print_json([dict(zip(names, map(plain, row), strict=True)) for row in islice(rows, limit)])
        elif as_csv:
            write_csv(columns, islice(rows, limit))
        else:
            write_table(columns, rows, limit or TABLE_ROWS)


def write_csv(columns: Sequence[str], rows: Iterator[Row]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    is_shown = on_terminal()
    for row in chain([columns], rows):
        cells = map(plain, row)
        writer.writerow([sanitize(cell) if is_shown and isinstance(cell, str) else cell for cell in cells])


def write_table(columns: Sequence[str], rows: Iterator[Row], limit: int) -> None:
    shown = [
        [f"<{len(cell)} bytes>" if isinstance(cell, bytes) else cell for cell in row] for row in islice(rows, limit)
    ]
    if not shown:
        note("No rows.")
        return
    numeric = [all(isinstance(row[place], (int, float, type(None))) for row in shown) for place in range(len(columns))]
    print_lines(table(columns, shown, [name for name, right in zip(columns, numeric, strict=True) if right]))
    if next(rows, None) is not None:
        note("There are more rows; -n N shows N, --json and --csv all of them.")


def distinct(columns: Sequence[str]) -> list[str]:
    """Names for the keys of an object: a name that is repeated gets a number."""
    names: list[str] = []
    for column in columns:
        name, number = column, 1
        while name in names:
            number += 1
            name = f"{column}_{number}"
        names.append(name)
    return names


def plain(cell: Any) -> Any:
    """A value of a row as JSON or CSV holds it; bytes are base64."""
    if isinstance(cell, (bytes, memoryview)):
        from base64 import b64encode

        return b64encode(cell).decode()
    return cell if cell is None or isinstance(cell, (str, int, float)) else str(cell)


def text_function(store: Store) -> Callable[..., str | None]:
    """The SQL function `bough_text`."""

    def bough_text(id: str | None, position: int | None = None) -> str | None:
        if id is None or not isinstance(position, (int, type(None))):
            return None
        try:
            (node,) = store.get_messages([str(id)])
        except NotFound:
            return None
        text = message_text(node.message) if position is None else block_text(node.message, position)
        return None if text is None else text.encode("utf-8", "replace").decode()

    return bough_text
