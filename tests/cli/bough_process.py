"""`bough` as a subprocess: arguments, streams and exit status."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


@dataclass
class Shell:
    """Runs `bough` with an own working directory, home and store."""

    directory: Path
    db: Path

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "TMPDIR") if name in os.environ}
        home = str(self.directory)
        return {**kept, "HOME": home, "BOUGH_DB": str(self.db), "LANG": "C.UTF-8", "TZ": "UTC", "COLUMNS": "100"}

    def __call__(self, *words: str, stdin: str = "", **more: str) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "bough", *words],
            cwd=self.directory,
            env=self.environment | more,
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)
