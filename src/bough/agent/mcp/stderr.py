"""Capture the stderr of a program for error messages, and keep it off the terminal."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import TextIO

LINES = 12
LONGEST = 500
"""What is kept for an error message: the last lines, and characters of each."""


class StderrTail:
    """A pipe for a program's stderr that keeps the last lines."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w")
        self._lines: deque[str] = deque(maxlen=LINES)
        self._thread = threading.Thread(target=self._read, args=(reading,), name="stderr", daemon=True)
        self._thread.start()

    def close_write_end(self) -> None:
        """Close our copy of the write end once the program has its own, so that its exit ends the pipe."""
        self.file.close()

    def text(self, wait: float = 0.0) -> str:
        """The last lines, after waiting up to `wait` seconds for the end of the output."""
        self._thread.join(wait)
        return "\n".join(self._lines)

    def _read(self, end: int) -> None:
        with os.fdopen(end, "rb") as stream:
            for line in iter(lambda: stream.readline(65_536), b""):
                if text := line.decode("utf-8", "replace").strip():
                    self._lines.append(text[:LONGEST])
