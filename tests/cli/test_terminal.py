"""What a person sees: a real terminal, with its colours, its pager, and questions that are asked."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect  # type: ignore[import-untyped]
import pytest

import bough
from bough import ToolCall, Usage, assistant, tool_result, user
from bough.cli.output.text import width
from tests.cli.bough_process import Shell
from tests.cli.history import HOSTILE

OWN = re.compile(r"\x1b\[[0-9;]*m")
"""What bough itself says to a terminal: colours."""


def terminal(sh: Shell, *words: str, lines: int = 200, columns: int = 100, more: dict[str, str] | None = None) -> Any:
    environment = sh.environment | {"TERM": "xterm-256color", **(more or {})}
    environment.pop("COLUMNS", None)
    return pexpect.spawn(
        sys.executable, ["-m", "bough", *words], cwd=sh.directory, env=environment,
        encoding="utf-8", timeout=30, dimensions=(lines, columns),
    )  # fmt: skip


def seen(sh: Shell, *words: str, **more: str) -> str:
    """Everything that a command writes on a terminal."""
    child = terminal(sh, *words, more=more)
    child.expect(pexpect.EOF)
    child.close()
    return str(child.before).replace("\r\n", "\n")


@pytest.fixture
def hostile(sh: Shell) -> Shell:
    """A store in which every text that can be stored is hostile."""
    key = "cli:" + HOSTILE.replace("\0", "").replace("\ud800", "")
    with bough.connect(sh.db) as store:
        session = store.session(key, title=HOSTILE, model=HOSTILE.replace("\ud800", ""), agent="a\x1b[2J")
        ids = session.save_turn(
            [user(HOSTILE), assistant(bough.Thinking(HOSTILE), ToolCall("c\x1b[2J", HOSTILE, HOSTILE)),
             tool_result("c\x1b[2J", HOSTILE, error=True), assistant(f"# {HOSTILE}\n\n**{HOSTILE}**")],
            model="m\x1b[2J",
        )  # fmt: skip
        with suppress(RuntimeError), session.turn(HOSTILE):
            raise RuntimeError(HOSTILE)
        store.label(ids[0], HOSTILE)
        extra = store.session(key + "2")
        extra.save_turn([user("x"), assistant("y")])
        store.delete_session(extra.key)
    return sh


COMMANDS = [
    "convo ls", "convo ls --flat", "convo ls --json", "show --thinking --tools", "show --json", "sessions",
    "sessions --json", "search red", "stats", "restore", "clean -d 0 --dry-run", "export --all",
    "export --all -f md -o -", "show \x1b[31m", "fork \u202e",
]  # fmt: skip


@pytest.mark.parametrize("line", COMMANDS, ids=ascii)
def test_nothing_stored_can_speak_to_the_terminal(hostile: Shell, line: str) -> None:
    shown = OWN.sub("", seen(hostile, *line.split(" "), PAGER="cat"))
    assert shown.strip()
    assert not re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert "\x1b" not in shown


def test_colours_and_relative_times_are_for_terminals(kept: Shell, ids: dict[str, str]) -> None:
    coloured = seen(kept, "convo", "ls")
    assert f"\x1b[1m{ids['oaks']}\x1b[0m" in coloured
    assert "├── " in coloured
    assert "╰── " in coloured
    plain = seen(kept, "convo", "ls", NO_COLOR="1")
    assert not OWN.search(plain)
    assert "1mo ago" in seen(kept, "sessions")
    assert "\x1b" not in kept("convo", "ls").out
    assert "ago" not in kept("sessions").out


def test_the_middle_of_a_long_conversation_is_folded_for_people(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        talk = store.session("cli:long")
        ids = [id for number in range(20) for id in talk.save_turn([user(f"q{number}"), assistant(f"a{number}")])]
        store.label(ids[19], "kept")
    shown = OWN.sub("", seen(sh, "ls")).splitlines()
    assert [line[:6] for line in shown] == [
        *ids[:3], "  ⋮ 14", *ids[17:22], "  ⋮ 15", *ids[37:], "------",
    ]  # fmt: skip
    assert len(seen(sh, "ls", "--full").splitlines()) == 41
    assert len(sh("ls").out.splitlines()) == 41


def test_markdown_is_drawn_and_matches_are_set_off(kept: Shell, ids: dict[str, str]) -> None:
    drawn = seen(kept, "show", ids["metres"], "-n", "1")
    assert "**" not in drawn
    assert "crowns" in drawn
    assert "**crowns**" in seen(kept, "show", ids["metres"], "-n", "1", NO_COLOR="1")
    assert "\x1b[1;33moak\x1b[0m" in seen(kept, "search", "oak")


def test_what_does_not_fit_goes_through_the_pager(kept: Shell, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "PAGED: $LESS"\ncat\n')
    pager.chmod(0o755)
    child = terminal(kept, "convo", "ls", lines=10, more={"PAGER": str(pager)})
    child.expect_exact("PAGED: FRX +G")  # where the newest is
    child.expect(pexpect.EOF)
    child = terminal(kept, "show", "cli:garden", lines=10, more={"PAGER": str(pager)})
    child.expect_exact("PAGED: FRX\r\n")
    child.expect(pexpect.EOF)
    assert "PAGED" not in seen(kept, "sessions", PAGER=str(pager))


def test_a_near_miss_is_asked_about(kept: Shell, ids: dict[str, str]) -> None:
    child = terminal(kept, "serach", "mongolia")
    child.expect(re.escape("'serach' is no command; did you mean `bough search`? [Y/n]"))
    child.sendline("")
    child.expect(ids["capital"])
    child.expect(pexpect.EOF)
    child = terminal(kept, "serach", "mongolia")
    child.expect(r"\[Y/n\]")
    child.sendline("n")
    child.expect("To ask a model, write: bough run serach mongolia")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 2


@pytest.mark.parametrize("columns", [70, 80, 120])
def test_the_bars_of_stats_leave_room_for_the_numbers(kept: Shell, columns: int) -> None:
    with bough.connect(kept.db) as store:
        session, spent = store.session("cli:" + "long-" * 20), Usage(12_345_678, 1_234_567, cost=1234.5)
        session.save_turn([user("x"), assistant("y")], model="m" * 60, usage=spent)
    child = terminal(kept, "stats", columns=columns)
    child.expect(pexpect.EOF)
    lines = OWN.sub("", str(child.before)).splitlines()
    assert "█" in "".join(lines)
    assert max(map(width, lines)) <= columns


def test_cleaning_asks_and_no_means_no(kept: Shell, ids: dict[str, str]) -> None:
    child = terminal(kept, "clean")
    child.expect("cli:notes")
    child.expect(re.escape("Move 1 conversation to the trash? [y/N]"))
    child.sendline("n")
    child.expect("Nothing was changed.")
    child.expect(pexpect.EOF)
    assert ids["capital"] in kept("convo", "ls").out
    child = terminal(kept, "clean")
    child.expect(re.escape("[y/N]"))
    child.sendline("y")
    child.expect("1 conversation moved to the trash.")
    child.expect(pexpect.EOF)
    assert ids["capital"] not in kept("convo", "ls").out


def test_ctrl_c_ends_a_question_without_a_traceback(kept: Shell) -> None:
    child = terminal(kept, "clean")
    child.expect(re.escape("[y/N]"))
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
    assert "Traceback" not in str(child.before)


def test_a_reader_that_goes_away_is_no_error_message(kept: Shell) -> None:
    script = f"set -o pipefail; {sys.executable} -m bough export --all | true"
    done = subprocess.run(
        ["bash", "-c", script], env=kept.environment, cwd=kept.directory, capture_output=True, text=True, check=False
    )
    assert done.returncode in (0, 141)
    assert done.stderr == ""
