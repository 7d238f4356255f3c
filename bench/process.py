"""Start Python with cached bytecode, as on a user's machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).parent.parent
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def start(*arguments: object, cwd: Path = ROOT, stderr: int | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=stderr,
        text=True,
    )


def run(*arguments: object) -> tuple[float, str]:
    """Run Python to its end; the seconds, and its output."""
    began = perf_counter()
    with start(*arguments, stderr=subprocess.PIPE) as process:
        output, errors = process.communicate()
    if process.returncode:
        raise ChildProcessError(f"{arguments} ended with {process.returncode}: {errors}")
    return perf_counter() - began, output
