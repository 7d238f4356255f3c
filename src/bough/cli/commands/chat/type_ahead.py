"""What is typed while a reply is being written: `/stop` stops it, and anything else waits for the next prompt."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bough.agent import Stop

INTERVAL = 0.1
"""Seconds between two looks at the terminal."""


class TypeAhead:
    """Reads lines from the terminal in a thread."""

    def __init__(self, stop: Stop) -> None:
        self.stop = stop
        """Set by `/stop`."""
        self._typed: list[str] = []
        self.is_over = False
        """Whether Ctrl+D was typed, which ends the chat."""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read, name="typed ahead", daemon=True)

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def end(self) -> None:
        """Stop reading. After lines, the rest without its Enter is read too, so that a paste is not torn apart."""
        self._ended.set()
        self._thread.join()
        if self._typed:
            self._typed.append(unfinished_line())

    @property
    def text(self) -> str:
        """What else was typed or pasted."""
        return re.sub("\x1b\\[20[01]~", "", "".join(self._typed)).strip("\n")

    def _read(self) -> None:
        from select import select

        file = sys.stdin.fileno()
        while not self._ended.is_set():
            if not select([file], [], [], INTERVAL)[0]:
                continue
            try:
                typed = os.read(file, 65_536).decode("utf-8", "replace")
            except OSError:  # the terminal is gone
                return
            if not typed:
                self.is_over = True
                return
            if typed.strip() == "/stop":
                self.stop.set()
            else:
                self._typed.append(typed)


def unfinished_line() -> str:
    """What was typed since the last Enter, taken from the terminal."""
    import termios

    file = sys.stdin.fileno()
    before = termios.tcgetattr(file)
    raw = [*before[:3], before[3] & ~termios.ICANON, *before[4:6], [*before[6]]]
    raw[6][termios.VMIN], raw[6][termios.VTIME] = 0, 1
    termios.tcsetattr(file, termios.TCSANOW, raw)
    try:
        return os.read(file, 65_536).decode("utf-8", "replace")
    finally:
        termios.tcsetattr(file, termios.TCSANOW, before)


@contextmanager
def typed_ahead(*, enabled: bool) -> Iterator[TypeAhead]:
    """Read what is typed in a `with` block; where that is not possible, nothing."""
    from bough.agent import Stop

    ahead = TypeAhead(Stop())
    if not enabled or os.name != "posix":
        yield ahead
        return
    ahead.start()
    try:
        yield ahead
    finally:
        ahead.end()
