"""Colours, the pager, JSON, and an output that cannot be written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pexpect  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bough.cli.output import console
from bough.cli.output.console import json_text
from tests.cli.bough_process import Shell
from tests.cli.terminal import COLOURS, seen, spawn
from tests.cli.texts import ANY_TEXT, FORBIDDEN


@settings(max_examples=30)
@given(
    st.recursive(ANY_TEXT | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(ANY_TEXT, inner))
)
def test_json_on_a_terminal_is_safe_and_unchanged(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert not FORBIDDEN & set(text)
    text.encode()


def test_colours_and_relative_times_are_for_terminals(kept: Shell, ids: dict[str, str]) -> None:
    coloured = seen(kept, "convo", "ls")
    assert f"\x1b[1m{ids['oaks']}\x1b[0m" in coloured
    assert "├── " in coloured
    assert "╰── " in coloured
    plain = seen(kept, "convo", "ls", NO_COLOR="1")
    assert not COLOURS.search(plain)
    assert "1mo ago" in seen(kept, "sessions")
    assert "\x1b" not in kept("convo", "ls").out
    assert "ago" not in kept("sessions").out


def test_long_output_goes_through_the_pager(kept: Shell, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "PAGED: $LESS"\ncat\n')
    pager.chmod(0o755)
    child = spawn(kept, "convo", "ls", lines=10, more={"PAGER": str(pager)})
    child.expect_exact("PAGED: FRX +G")  # where the newest is
    child.expect(pexpect.EOF)
    child = spawn(kept, "show", "cli:garden", lines=10, more={"PAGER": str(pager)})
    child.expect_exact("PAGED: FRX\r\n")
    child.expect(pexpect.EOF)
    assert "PAGED" not in seen(kept, "sessions", PAGER=str(pager))


def test_a_failed_write_is_one_line(kept: Shell, ids: dict[str, str]) -> None:
    def shell(line: str) -> tuple[int, str, str]:
        done = subprocess.run(
            ["bash", "-c", line.replace("bough", f"{sys.executable} -m bough", 1)],
            cwd=kept.directory, env=kept.environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    for line in ("bough ls > /dev/full", "bough sessions > /dev/full", f"bough export {ids['oaks']} -o /dev/full"):
        status, _, complained = shell(line)
        assert status == 1, line
        assert "No space left on device" in complained
        assert "Traceback" not in complained
    assert not Path("/dev/full").is_file()
    assert shell("bough ls >&-")[0] == 0
    assert "subagents" not in shell("bough ls 2>&-")[1]


def test_a_closed_pipe_is_no_error_message(kept: Shell) -> None:
    script = f"set -o pipefail; {sys.executable} -m bough export --all | true"
    done = subprocess.run(
        ["bash", "-c", script], env=kept.environment, cwd=kept.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 141)
    assert done.stderr == ""


def test_progress_is_one_line_that_fits_and_is_cleared(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "supports_escapes", lambda _: True)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(console, "monotonic", iter(range(10)).__next__)
    with console.progress("chats.json") as update:
        assert update is not None
        update(1, 4, "2 messages")
        update(5, 4)
        update(1_000, None, "many messages of a file of unknown size")
    lines = capsys.readouterr().err.split(console.CLEAR_LINE)
    assert lines == [
        "",
        "chats.json: 25%  2 messages",
        "chats.json: 100%",
        "chats.json: 1,000 bytes  many messages…",
        "",
    ]
    with console.progress("short") as update:
        pass
    assert capsys.readouterr().err == ""
