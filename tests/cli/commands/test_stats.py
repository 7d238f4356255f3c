"""`bough stats`: sums of tokens and cost, and their bars."""

from __future__ import annotations

import json
import re

import pexpect  # type: ignore[import-untyped]
import pytest

import bough
from bough import Usage, assistant, user
from bough.cli.commands.stats import bar
from bough.cli.output.text import width
from tests.cli.bough_process import Shell
from tests.cli.terminal import COLOURS, spawn


def test_stats_sum_tokens_and_cost_and_do_not_take_unknown_for_zero(kept: Shell) -> None:
    done = kept("stats").out
    assert done.startswith("Total  9 turns · 2,241 → 204 tokens · $0.0096+?")
    assert re.search(r"claude-x +█+ +2,210 → 180 +\$0.0093\+\?  2 turns", done)
    assert re.search(r"mini +\? → \? +\$ \?", done)
    facts = json.loads(kept("stats", "--json").out)
    assert facts["total"]["input_tokens"] == 2241
    assert {row["name"] for row in facts["sessions"]} >= {"cli:garden", "telegram:42"}
    assert len(facts["days"]) == 3
    assert "sessions" not in json.loads(kept("stats", "--session", "cli:notes", "--json").out)
    assert kept("stats", "--session", "nobody").status == 3
    assert "(3 more: -n)" in kept("stats", "-n", "1").out


def test_stats_are_grouped_by_one_or_two_things_and_limited_to_a_time(kept: Shell) -> None:
    assert "By model\n" in kept("stats", "--by", "model").out
    done = kept("stats", "--by", "day,model")
    assert re.search(r"^  20\d\d-\d\d-\d\d · claude-x ", done.out, re.MULTILINE)
    assert "By session" not in done.out
    facts = json.loads(kept("stats", "--by", "provider", "--json").out)
    assert set(facts) == {"total", "messages", "sessions_kept", "provider"}
    assert kept("stats", "--until", "2001-01-01").err == "No turns yet.\n"
    assert kept("stats", "--since", "2001-01-01").out.startswith("Total  9 turns")
    refused = kept("stats", "--by", "week")
    assert refused.status == 2
    assert "model, provider, session, agent, label, day" in refused.err


def test_bars_grow_by_eighths() -> None:
    assert bar(1.0, 4) == "████"
    assert bar(0.5, 4) == "██  "
    assert bar(0.0, 4) == "    "
    assert bar(0.00001, 4) == "▏   "


@pytest.mark.parametrize("columns", [70, 80, 120])
def test_the_bars_of_stats_leave_room_for_the_numbers(kept: Shell, columns: int) -> None:
    with bough.connect(kept.db) as store:
        session, spent = store.session("cli:" + "long-" * 20), Usage(12_345_678, 1_234_567, cost=1234.5)
        session.save_turn([user("x"), assistant("y")], model="m" * 60, usage=spent)
    child = spawn(kept, "stats", columns=columns)
    child.expect(pexpect.EOF)
    lines = COLOURS.sub("", str(child.before)).splitlines()
    assert "█" in "".join(lines)
    assert max(map(width, lines)) <= columns
