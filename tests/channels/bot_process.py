"""`bough bot` in a process of its own, which is killed and started again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class BotProcess:
    """A bot that can be killed at any moment."""

    def __init__(self, directory: Path, config: Path, db: str, module: str = "bough", **env: str) -> None:
        self._words = [sys.executable, "-m", module, "--config", str(config), "--db", db, "bot"]
        inherited = {name: one for name, one in os.environ.items() if not name.startswith("BOUGH_")}
        self._env = {**inherited, "HOME": str(directory), **env}
        self._log = directory / "errors"
        self._errors = self._log.open("ab")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, **env: str) -> None:
        """Start the process, with more variables of the environment."""
        self.process = subprocess.Popen(self._words, env={**self._env, **env}, stdout=self._errors, stderr=self._errors)

    def wait_ready(self, channels: int) -> None:
        """Wait until the bot has said of so many channels that it answers."""
        ends_at = time.monotonic() + 30
        while self._log.read_bytes().count(b"bough answers on") < channels:
            assert time.monotonic() < ends_at, self._log.read_text("utf-8", "replace")
            time.sleep(0.02)

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
            self.close()

    def close(self) -> None:
        """Kill the process if it runs."""
        if self.process is not None and self.process.poll() is None:
            self.end(signal.SIGKILL)
        self._errors.close()
