"""A pseudo-terminal, read by a terminal emulator."""

from __future__ import annotations

import re
import sys
import time
from types import TracebackType
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pyte

from tests.cli.bough_process import Shell

PATIENCE = 30.0
COLUMNS, LINES = 120, 50
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""The only escape sequences that bough writes."""


class Terminal:
    """Runs `bough` on a pseudo-terminal, with the screen as a user sees it."""

    def __init__(self, sh: Shell, *words: str, **more: str) -> None:
        self.screen = pyte.Screen(COLUMNS, LINES)
        self._stream = pyte.ByteStream(self.screen)
        environment = {**sh.environment, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", **more}
        del environment["COLUMNS"]  # the terminal itself says how wide it is
        self.process = pexpect.spawn(
            sys.executable,
            ["-m", "bough", *words],
            cwd=str(sh.directory),
            env=environment,
            dimensions=(LINES, COLUMNS),
            timeout=PATIENCE,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.close(force=True)

    @property
    def text(self) -> str:
        """The screen, without trailing space."""
        return "\n".join(line.rstrip() for line in self.screen.display).strip("\n")

    def type(self, keys: str) -> None:
        """Send keys."""
        self.process.send(keys)

    def say(self, line: str) -> None:
        """Type a line, wait until it is on the screen, and press Enter."""
        self.type(line)
        self.see(line[-20:].strip())
        self.type("\r")

    def see(self, *texts: str) -> str:
        """Wait until all texts are on the screen; return the screen."""
        self._until(lambda: all(text in self.text for text in texts), f"{texts} never came")
        return self.text

    def find(self, pattern: str) -> str:
        """Wait until a pattern matches the screen; return the last match."""
        self._until(lambda: re.search(pattern, self.text), f"{pattern!r} never came")
        return str(re.findall(pattern, self.text)[-1])

    def end(self) -> int | None:
        """Wait for the process; return its exit status, None after a signal."""
        deadline = time.monotonic() + PATIENCE
        while self._read() and time.monotonic() < deadline:
            pass
        self.process.wait()
        status: int | None = self.process.exitstatus
        return status

    def hang_up(self) -> None:
        """Close the terminal, like closing its window."""
        self.process.close(force=False)

    def _until(self, seen: object, otherwise: str) -> None:
        assert callable(seen)
        deadline = time.monotonic() + PATIENCE
        while not seen():
            if not self._read() or time.monotonic() > deadline:
                raise AssertionError(f"{otherwise}. The screen:\n{self.text}")

    def _read(self) -> bool:
        """Read available output; return False at its end."""
        try:
            self._stream.feed(self.process.read_nonblocking(65_536, timeout=0.2))
        except pexpect.TIMEOUT:
            return True
        except pexpect.EOF:
            return False
        return True


def spawn(sh: Shell, *words: str, lines: int = 200, columns: int = 100, more: dict[str, str] | None = None) -> Any:
    """Starts `bough` on a pseudo-terminal of this size, without an emulator."""
    environment = sh.environment | {"TERM": "xterm-256color", **(more or {})}
    environment.pop("COLUMNS", None)
    return pexpect.spawn(
        sys.executable, ["-m", "bough", *words], cwd=sh.directory, env=environment,
        encoding="utf-8", timeout=30, dimensions=(lines, columns),
    )  # fmt: skip


def seen(sh: Shell, *words: str, **more: str) -> str:
    """Everything that a command writes on a terminal."""
    child = spawn(sh, *words, more=more)
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before).replace("\r\n", "\n")
