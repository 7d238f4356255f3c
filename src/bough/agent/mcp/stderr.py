"""What a program says on stderr: kept for when it fails, and never on the user's terminal."""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import TextIO

LINES = 12
LONGEST = 500


class StderrTail:
    """A place for a program's stderr that remembers the last lines."""

    def __init__(self) -> None:
        reading, writing = os.pipe()
        self.file: TextIO = os.fdopen(writing, "w")
        self._lines: deque[str] = deque(maxlen=LINES)
        self._thread = threading.Thread(target=self._read, args=(reading,), name="stderr", daemon=True)
        self._thread.start()

    def close_write_end(self) -> None:
        """Says that the program has its end of the pipe: ours is closed, so that its end is noticed."""
        self.file.close()

    def text(self, patience: float = 0.0) -> str:
        """The last lines; an ended program's last ones are waited for."""
        self._thread.join(patience)
        return "\n".join(self._lines)

    def _read(self, end: int) -> None:
        with os.fdopen(end, "rb") as stream:
            for line in iter(lambda: stream.readline(65_536), b""):
                if text := line.decode("utf-8", "replace").strip():
                    self._lines.append(text[:LONGEST])
