"""`bough conversations list`: trees by default, a table with --flat, JSON with --json."""

from __future__ import annotations

import json
import re

from bough.cli.output.text import width
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell


def test_conversations_are_drawn_as_trees_with_the_most_recently_active_last(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("conversations", "list")
    assert done.status == 0
    lines = done.out.splitlines()
    plain = re.compile(r"( {4})*(\w{6} \(\d{4}-\d\d-\d\d \d\d:\d\d\) \[(USER|ASSISTANT|TOOL_RESULT)\] .+|------)")
    assert all(plain.fullmatch(line) for line in lines), lines
    places = [
        next(place for place, line in enumerate(lines) if ids[name] in line) for name in ("capital", "oaks", "loose")
    ]
    assert places == sorted(places)
    assert all(width(line) <= 100 for line in lines)

    def shown(name: str) -> str:
        return next(line for line in lines if ids[name] in line)

    assert not shown("metres").startswith(" ")
    assert shown("ash").startswith("    ")
    assert lines[lines.index(shown("hornbeam")) + 1] == "    ------"
    assert shown("hornbeam").endswith("← cli:garden")
    assert "#decision" in shown("hornbeam")
    assert "[interrupted] half an ans" in done.out
    assert "[failed] This fails" in done.out


def test_subagents_are_omitted_with_a_note(kept: Shell) -> None:
    done = kept("convo", "ls")
    assert "Review the plan" not in done.out
    assert done.err == "Runs of subagents are not shown; --subagents shows them.\n"
    unfolded = kept("convo", "ls", "--subagents")
    assert "#subagent:reviewer:a1b2c3d4 Review the plan" in unfolded.out
    assert unfolded.err == ""


def test_a_list_has_aliases(kept: Shell) -> None:
    listed = kept("conversations", "list").out
    for words in ("conversation ls", "convo list", "conversations", "conv -n 20", "convos", "ls", "tree"):
        assert kept(*words.split()).out == listed


def test_a_list_is_short_unless_all_is_asked_for(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("convo", "ls", "-n", "1")
    assert done.out.splitlines()[-1] == "------"
    assert ids["loose"] in done.out
    assert ids["oaks"] not in done.out
    assert "Older conversations are not shown; --all shows them" in done.err
    assert ids["capital"] in kept("convo", "ls", "-n", "1", "--all").out
    assert kept("convo", "ls", "-n", "0").status == 2


def test_a_flat_list_has_one_row_a_conversation(kept: Shell, ids: dict[str, str]) -> None:
    head, *rows = kept("convo", "ls", "--flat").out.splitlines()
    assert head.split()[0] == "ID"
    assert [row.split()[0] for row in rows] == [ids["ulan"], ids["five"], ids["fine"], ids["loose"]]
    assert "Planting oaks" in rows[1]
    flat = json.loads(kept("convo", "ls", "--flat", "--json").out)
    assert flat[1]["messages"] == 8
    assert flat[1]["branches"] == 2
    assert flat[1]["sessions"] == ["cli:garden", "cli:birches"]


def test_a_list_is_json_with_iso_times_when_asked(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("convo", "ls", "--json")
    messages = {one["id"]: one for one in json.loads(done.out)}
    five = messages[ids["five"]]
    assert (five["parent"], five["role"], five["sessions"]) == (ids["birch"], "assistant", ["cli:birches"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", five["time"])
    assert done.err == ""


def test_a_question_about_something_piped_in_is_listed_by_its_words(sh: Shell) -> None:
    talk = ScriptedShell(sh)
    model = talk.script("A line.")
    for piped in ("short", "x" * 20_000):
        sh("run", "-n", "-m", model, "What does this change?", stdin=piped)
    sh("run", "-n", "-m", model, stdin="only this")
    words = [row["words"] for row in json.loads(sh("tree", "--json").out) if row["role"] == "user"]
    assert words == ["What does this change?", "What does this change?", "only this"]
