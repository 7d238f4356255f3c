"""Runs command lines of bough, each in a process that is forked for it: bough is imported once.

`python -m tests.reliability.command_runner` reads a JSON object in each line: words, directory, environment, stdin. It
answers with the exit status, negative for a signal, as `waitpid` gives it.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from bough.cli import main
from bough.cli.registry import ROOT
from bough.engines import connect


def run(order: dict[str, Any]) -> int:
    """Run one command line in a child; returns its status."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 70
    try:
        os.chdir(order["directory"])
        os.environ.update(order["environment"])
        redirect(order["stdin"])
        status = main(order["words"])
        sys.stdout.flush()
    finally:
        os._exit(status)


def redirect(stdin: str) -> None:
    reading, writing = os.pipe()
    os.write(writing, stdin.encode())
    os.close(writing)
    os.dup2(reading, 0)
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    for stream, name in ((1, "out"), (2, "err")):
        os.dup2(os.open(f"../{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)


if __name__ == "__main__":
    loaded = (ROOT, connect)
    answers = os.dup(1)
    for line in sys.stdin.buffer:
        os.write(answers, f"{run(json.loads(line))}\n".encode())
