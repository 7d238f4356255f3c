"""The command lines of the README are typed as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell

README = Path(__file__).parents[2] / "README.md"
EXAMPLE = "a1b2c3"


def lines() -> list[str]:
    section = README.read_text("utf-8").partition("**In a terminal.**")[2].partition("**In Python.**")[0]
    return re.findall(r"^\$ (.*?)\s+#", section, re.MULTILINE)


def test_the_readmes_command_lines_do_what_they_say(sh: Shell) -> None:
    ScriptedShell(sh).script("Slow growth.", "Beeches live shorter.", "Nothing.", "Because they are slow.")
    tools = sh.directory / "bin"
    tools.mkdir()
    (tools / "bough").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bough "$@"\n')
    (tools / "bough").chmod(0o755)
    environment = {**sh.environment, "PATH": f"{tools}:{os.environ['PATH']}", "BOUGH_MODEL": "scripted:script"}
    first = ""
    out: dict[str, str] = {}
    for line in lines():
        command = line.replace(EXAMPLE, first or EXAMPLE)
        done = subprocess.run(
            ["sh", "-c", command], cwd=sh.directory, env=environment, capture_output=True, text=True,
            stdin=subprocess.DEVNULL, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        out[line] = done.stdout
        first = first or re.findall(r"^\[(\w{6})\]$", done.stderr, re.MULTILINE)[0]
    said = list(out.values())
    assert said[:2] == ["Slow growth.\n", "Beeches live shorter.\n"]
    assert "beeches" in out["bough search beeches"].lower()
    assert "bough [OPTIONS]" in out["bough"]  # the browser is for terminals
    assert len(out) == 6
