"""What a command writes on: data on stdout, everything else on stderr; colours and a pager only on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from time import monotonic
from typing import Any, TextIO

from bough.cli.output.text import HOSTILE, sanitize

STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "cyan": "36",
    "match": "1;33",
}
PATIENCE = 0.5
"""Seconds that a person waits without wondering."""


def on_terminal() -> bool:
    """Whether a person reads stdout."""
    return sys.stdout.isatty()


def supports_escapes(stream: TextIO) -> bool:
    """Whether a stream is a terminal that knows escapes."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether colours are wanted on stdout, or on another stream."""
    return supports_escapes(stream or sys.stdout) and not os.environ.get("NO_COLOR")


def styled(text: str, style: str) -> str:
    """The text in a style, where there are colours."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text and has_colour() else text


def columns() -> int:
    """How wide a line may be: the terminal's width, or as CPE cuts it where there is none."""
    return shutil.get_terminal_size().columns if on_terminal() else 100


def echo(text: str) -> None:
    """Writes one line of data."""
    print(sanitize(text))


def note(text: str) -> None:
    """Says something that is not data."""
    print(sanitize(text), file=sys.stderr)


def print_lines(lines: Iterable[str], *, from_end: bool = False) -> None:
    """Writes lines: through a pager if a person reads them and they are more than fit on the screen.

    `from_end` is for what has its newest lines last: the pager begins there.
    """
    lines = iter(lines)
    if on_terminal() and sys.stdin.isatty():
        screen = list(islice(lines, shutil.get_terminal_size().lines - 1))
        more = list(islice(lines, 1))
        if more:
            page(chain(screen, more, lines), from_end)
            return
        lines = iter(screen)
    for line in lines:
        sys.stdout.write(line + "\n")


def page(lines: Iterator[str], from_end: bool) -> None:
    import click

    os.environ.setdefault("LESS", "FRX +G" if from_end else "FRX")
    click.echo_via_pager((line + "\n" for line in lines), color=has_colour())


def print_json(value: Any) -> None:
    """Writes one JSON value; on a terminal, indented."""
    print_lines(escaped(json_text(value, 2 if on_terminal() else None)).split("\n"))


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON whose text is readable in every script, and harmless on a terminal. Bytes are base64, as on every wire."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_base64)
    # What is hostile can only stand inside a string, where its escape means the same.
    return re.sub(HOSTILE, lambda match: json.dumps(match[0])[1:-1], text)


def escaped(text: str) -> str:
    """JSON in which nothing is lost where stdout does not know every character."""
    if (sys.stdout.encoding or "").lower().startswith("utf"):
        return text
    return re.sub(r"[^\x00-\x7f]", lambda match: json.dumps(match[0])[1:-1], text)


def _base64(value: bytes) -> str:
    from base64 import b64encode

    return b64encode(value).decode()


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Shows on a terminal how far long work has come; gives a function that is told so, or None without a terminal."""
    if not supports_escapes(sys.stderr):
        yield None
        return
    told, began = 0, monotonic()

    def tell(done: int, all_: int) -> None:
        nonlocal told
        if monotonic() - began < PATIENCE:
            return
        told += 1
        print(f"\r{what}: {100 * done // max(all_, 1)}%", end="", file=sys.stderr, flush=True)

    try:
        yield tell
    finally:
        if told:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
