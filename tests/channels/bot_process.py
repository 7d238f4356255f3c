"""`bough bot` in a process of its own, which is killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BotProcess:
    """A bot that can be killed at any moment."""

    def __init__(self, directory: Path, config: Path, db: str, **env: str) -> None:
        self._words = [sys.executable, "-m", "bough", "--config", str(config), "--db", db, "bot"]
        inherited = {name: one for name, one in os.environ.items() if not name.startswith("BOUGH_")}
        self._env = {**inherited, "HOME": str(directory), **env}
        self._errors = (directory / "errors").open("ab")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(self._words, env=self._env, stdout=self._errors, stderr=self._errors)

    def end(self, how: signal.Signals) -> int:
        """Signal the process and wait for its end; its exit status."""
        assert self.process is not None
        self.process.send_signal(how)
        return self.process.wait(30)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run until the block is left, or has ended it."""
        self.start()
        try:
            yield
        finally:
            if self.process is not None and self.process.poll() is None:
                self.end(signal.SIGKILL)
            self._errors.close()
