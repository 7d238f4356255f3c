"""Output streams of a command: data on stdout, everything else on stderr; colours and a pager only on a terminal."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import chain, islice
from time import monotonic
from typing import Any, TextIO

from bough.cli.output.text import UNSAFE, sanitize, truncate

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
PROGRESS_DELAY, PROGRESS_INTERVAL = 0.5, 0.1
"""Seconds before progress is shown, so that short work shows none, and between two updates."""
CLEAR_LINE = "\r\x1b[K"
LINE_WIDTH = 100
"""Columns of a line that is not written to a terminal."""
_PANE: ContextVar[int | None] = ContextVar("pane", default=None)
"""Columns of the part of the screen that lines are made for, if that is not the whole terminal."""


@contextmanager
def in_pane(width: int) -> Iterator[None]:
    """Make lines for a part of the screen that is `width` cells wide, in colour."""
    token = _PANE.set(width)
    try:
        yield
    finally:
        _PANE.reset(token)


def is_plain() -> bool:
    """Whether output is for a screen reader (`--plain`): no colours, boxes, redrawn lines or pages."""
    return bool(os.environ.get("BOUGH_PLAIN"))


def on_terminal() -> bool:
    """Whether stdout is a terminal."""
    return sys.stdout.isatty()


def supports_escapes(stream: TextIO) -> bool:
    """Whether a stream is a terminal that interprets escape sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not is_plain()


def has_colour(stream: TextIO | None = None) -> bool:
    """Whether to write colours to `stream`, stdout by default."""
    if stream is None and _PANE.get() is not None:
        return True
    return supports_escapes(stream or sys.stdout) and not os.environ.get("NO_COLOR")


def styled(text: str, style: str) -> str:
    """`text` in a style if stdout has colours, else unchanged."""
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if text and has_colour() else text


def without_escapes(line: str) -> str:
    """A line without the escape sequences of styles and links."""
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\", "", line)


def columns() -> int:
    """The maximum width of a line."""
    if (pane := _PANE.get()) is not None:
        return pane
    return shutil.get_terminal_size().columns if on_terminal() else LINE_WIDTH


def echo(text: str) -> None:
    """Write one line to stdout."""
    print(sanitize(text))


def note(text: str) -> None:
    """Write one line that is not data to stderr."""
    print(sanitize(text), file=sys.stderr)


def print_lines(lines: Iterable[str], *, from_end: bool = False) -> None:
    """Write lines to stdout; on a terminal through a pager if they do not fit on the screen.

    With `from_end` the pager starts at the last line, for lists whose newest entries come last.
    """
    lines = iter(lines)
    if on_terminal() and sys.stdin.isatty() and not is_plain():
        screen = list(islice(lines, shutil.get_terminal_size().lines - 1))
        more = list(islice(lines, 1))
        if more:
            _page(chain(screen, more, lines), from_end)
            return
        lines = iter(screen)
    for line in lines:
        sys.stdout.write(line + "\n")


def _page(lines: Iterator[str], from_end: bool) -> None:
    import click

    os.environ.setdefault("LESS", "FRX +G" if from_end else "FRX")
    click.echo_via_pager((line + "\n" for line in lines), color=has_colour())


def print_json(value: Any) -> None:
    """Write one JSON value to stdout, indented on a terminal."""
    print_lines(escape_unencodable(json_text(value, 2 if on_terminal() else None)).split("\n"))


def print_json_items(items: Iterable[Any]) -> None:
    """Write a JSON array to stdout item by item."""
    print_lines(_array_lines(items))


def _array_lines(items: Iterable[Any]) -> Iterator[str]:
    indent, before = (2 if on_terminal() else None), "["
    for item in items:
        text = escape_unencodable(json_text(item, indent))
        yield from (before + text).split("\n")
        before = ","
    yield "[]" if before == "[" else "]"


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON with readable non-ASCII text, and unsafe characters escaped. Bytes are base64."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, default=_base64)
    # Unsafe characters occur only inside strings, where the escape is the same value.
    return re.sub(UNSAFE, lambda match: json.dumps(match[0])[1:-1], text)


def escape_unencodable(text: str) -> str:
    """JSON in ASCII if the encoding of stdout does not cover all of Unicode, so that no character is replaced."""
    if (sys.stdout.encoding or "").lower().startswith("utf"):
        return text
    return re.sub(r"[^\x00-\x7f]", lambda match: json.dumps(match[0])[1:-1], text)


def _base64(value: bytes) -> str:
    from base64 import b64encode

    return b64encode(value).decode()


class ProgressLine:
    """A line on stderr that shows how far long work has come."""

    def __init__(self, title: str) -> None:
        self.is_shown = False
        self._title = title
        self._next = monotonic() + PROGRESS_DELAY

    def __call__(self, done: int, total: int | None, detail: str = "") -> None:
        """Update the line, unless it was updated a moment ago. Without a total, `done` is a number of bytes."""
        now = monotonic()
        if now < self._next:
            return
        self.is_shown, self._next = True, now + PROGRESS_INTERVAL
        # A file may grow while it is read, to more than its total.
        share = f"{done:,} bytes" if total is None else f"{min(100 * done // max(total, 1), 100)}%"
        line = truncate(f"{self._title}: {share}  {detail}".rstrip(), shutil.get_terminal_size().columns - 1)
        print(f"{CLEAR_LINE}{line}", end="", file=sys.stderr, flush=True)


@contextmanager
def progress(title: str) -> Iterator[ProgressLine | None]:
    """Show progress on stderr if it is a terminal. Yields a function of done and total, or None without a terminal."""
    if not supports_escapes(sys.stderr):
        yield None
        return
    line = ProgressLine(title)
    try:
        yield line
    finally:
        if line.is_shown:
            print(CLEAR_LINE, end="", file=sys.stderr, flush=True)
