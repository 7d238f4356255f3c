"""`bough sessions`: the table and its filters."""

from __future__ import annotations

import json

import pexpect  # type: ignore[import-untyped]

from bough.cli.output.text import width
from tests.cli.bough_process import Shell
from tests.cli.terminal import COLOURS, spawn


def test_sessions_are_listed_and_filtered(kept: Shell, ids: dict[str, str]) -> None:
    _, *rows = kept("sessions").out.splitlines()
    assert [row.split()[0] for row in rows] == ["telegram:42", "cli:birches", "cli:garden", "cli:notes"]
    assert " red ␛[31m title" in rows[0]  # the first question; escapes are shown, not sent
    assert rows[2].endswith("Planting oaks")
    assert rows[1].endswith("Planting oaks ⑂ Five metres.")  # a fork has the title of its origin
    assert "cli:garden:delegate:reviewer" in kept("sessions", "--subagents").out
    (delegate,) = json.loads(kept("sessions", "--of", "cli:garden", "--json").out)
    assert (delegate["agent"], delegate["parent"]) == ("reviewer", "cli:garden")
    assert len(json.loads(kept("sessions", "--channel", "cli", "--json").out)) == 3
    assert kept("sessions", "--here").err == "No sessions found.\n"
    assert kept("sessions", "-n", "1").err == "There are more; --all shows them, -n N shows N.\n"
    assert kept("sessions", "--limit", "1", "--all").err == ""


def test_sessions_are_listed_by_label(kept: Shell, ids: dict[str, str]) -> None:
    assert "No sessions found" in kept("sessions", "--label", "topic").err
    kept("label", ids["capital"], "topic")
    listed = json.loads(kept("sessions", "--label", "topic", "--json").out)
    assert [info["session"] for info in listed] == ["cli:notes"]


def test_forty_columns_hold_a_table(kept: Shell) -> None:
    for words in (("sessions", "--subagents"), ("convo", "ls", "--flat", "--subagents"), ("models",), ("labels",)):
        child = spawn(kept, *words, columns=40)
        child.expect(pexpect.EOF)
        for line in COLOURS.sub("", child.before).replace("\r\n", "\n").splitlines():
            assert width(line) <= 40, line
