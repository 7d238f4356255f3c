"""`bough serve` in a process of its own, as a user starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import httpx2


class Serving:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], url: str, directory: Path, errors: IO[str]) -> None:
        self.process = process
        self.url = url
        self.directory = directory
        self.db: Path | str = directory / "s.db"
        """Its store: a file, or a URL."""
        self._errors = errors

    @property
    def token(self) -> str:
        """The token of its token file."""
        return (self.directory / "token").read_text().strip()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def client(self, token: str | None = "", headers: Mapping[str, str] = {}) -> httpx2.Client:
        """An HTTP client; with the server's own token unless another, or None, is given."""
        chosen = self.token if token == "" else token
        own = {"Authorization": f"Bearer {chosen}"} if chosen else {}
        return httpx2.Client(base_url=self.url, headers={**own, **headers}, timeout=30, trust_env=False)

    def errors(self) -> str:
        """What it has written to stderr."""
        self._errors.seek(0)
        return self._errors.read()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(30)


@contextmanager
def serving(directory: Path, *options: str, db: str | None = None, config: str = "", **env: str) -> Iterator[Serving]:
    """Start `bough serve` with its store, token and configuration in a directory."""
    directory.mkdir(exist_ok=True)
    (directory / "config.toml").write_text(config)
    words = [
        sys.executable,
        "-m",
        "bough",
        "--config",
        str(directory / "config.toml"),
        "--db",
        db or str(directory / "s.db"),
    ]
    words += [
        "serve",
        "--port",
        "0",
        *(() if "--no-token" in options else ("--token-file", str(directory / "token"))),
        *options,
    ]
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("BOUGH_", "OPENAI", "ANTHROPIC"))
    }
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            words, env={**inherited, "HOME": str(directory), "XDG_DATA_HOME": str(directory), **env},
            stdout=subprocess.PIPE, stderr=errors, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            errors.seek(0)
            assert line.startswith("bough listens on "), f"{line!r} {errors.read()}"
            running = Serving(process, line.split()[-1], directory, errors)
            running.db = db or running.db
            yield running
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
