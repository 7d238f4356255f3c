"""Programs of others, installed into a cache from npm and PyPI when a test asks for one."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

CACHE = Path(os.environ.get("BOUGH_PROGRAMS") or Path.home() / ".cache" / "bough-programs")
INSTALL_SECONDS = 900


def from_npm(package: str, command: str) -> str:
    """The path of a program of an npm package."""
    place = CACHE / "npm" / package.replace("/", "+")
    program = place / "node_modules" / ".bin" / command
    if not program.exists():
        place.mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(place), package]
        subprocess.run(words, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    return str(program)


def from_pypi(package: str, command: str) -> str:
    """The path of a program of a Python package, in an environment of its own."""
    place = CACHE / "pypi" / package
    scripts = place / ("Scripts" if sys.platform == "win32" else "bin")
    program = scripts / command
    if not program.exists():
        venv.create(place, with_pip=True, clear=True)
        words = [str(scripts / "python"), "-m", "pip", "install", "--quiet", package]
        subprocess.run(words, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    return str(program)


def run(words: list[str], home: Path, **environment: str) -> str:
    """Runs a program in `work` of a home directory of its own; what it wrote to both outputs."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
    own = {"HOME": str(home), "USERPROFILE": str(home), "NO_COLOR": "1", "TERM": "dumb", "LANG": "C.UTF-8"}
    done = subprocess.run(
        words, cwd=home / "work", env={**kept, **own, **environment}, capture_output=True, text=True, timeout=180,
        stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr
