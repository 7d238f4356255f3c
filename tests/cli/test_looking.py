"""Commands that look: list, tree, show, search, sessions, stats. Each as a user runs it."""

from __future__ import annotations

import json
import re

import pytest

import bough
from bough import Save, user
from bough.cli.output.text import width
from tests.cli.bough_process import Shell
from tests.cli.talking import Talk


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


def test_subagents_are_folded_and_said_to_be(kept: Shell) -> None:
    done = kept("convo", "ls")
    assert "Review the plan" not in done.out
    assert done.err == "1 run of subagents not shown; --subagents shows them.\n"
    unfolded = kept("convo", "ls", "--subagents")
    assert "#subagent:reviewer:a1b2c3d4 Review the plan" in unfolded.out
    assert unfolded.err == ""


def test_a_list_has_many_names(kept: Shell) -> None:
    listed = kept("conversations", "list").out
    for words in ("conversation ls", "convo list", "conversations", "conv -n 20", "convos", "ls", "tree"):
        assert kept(*words.split()).out == listed


def test_a_list_is_short_unless_all_is_asked_for(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("convo", "ls", "-n", "1")
    assert done.out.splitlines()[-1] == "------"
    assert ids["loose"] in done.out
    assert ids["oaks"] not in done.out
    assert "3 older conversations not shown; --all shows them" in done.err
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


def test_the_tree_of_a_message_is_drawn_whole_and_points_at_it(kept: Shell, ids: dict[str, str]) -> None:
    lines = kept("tree", ids["birch"][:5]).out.splitlines()
    assert lines[0].startswith(ids["oaks"])
    assert next(line for line in lines if ids["birch"] in line).endswith("← here")
    assert ids["capital"] not in kept("tree", "cli:garden").out
    below = kept("tree", ids["birch"], "--below").out.splitlines()
    assert [line.strip()[:6] for line in below] == [ids["birch"], ids["five"], "------"]
    assert [one["id"] for one in json.loads(kept("tree", ids["birch"], "--below", "--json").out)] == [
        ids["birch"],
        ids["five"],
    ]


@pytest.mark.parametrize("words", [("show",), ("conversation", "print"), ("convo", "view"), ("conversations", "show")])
def test_a_dialog_is_printed_under_many_names(kept: Shell, ids: dict[str, str], words: tuple[str, ...]) -> None:
    done = kept(*words, ids["hornbeam"])
    assert (done.status, done.err) == (0, "")
    assert [line.split(" ·")[0] for line in done.out.splitlines() if " · " in line] == [
        f"USER {ids['oaks']}", f"ASSISTANT {ids['call']}", f"TOOL RESULT {ids['result']}",
        f"ASSISTANT {ids['metres']}", f"USER {ids['ash']}", f"ASSISTANT {ids['hornbeam']}",
    ]  # fmt: skip


def test_thinking_and_long_results_are_folded_until_asked_for(kept: Shell, ids: dict[str, str]) -> None:
    folded = kept("show", "cli:garden").out
    assert "A crown is 20 m." not in folded
    assert "thought for 16 characters (--thinking shows it)" in folded
    assert '→ read_file({"path": "plan"})' in folded
    assert "✓ read_file" in folded
    assert "28 more lines (--tools shows them)" in folded
    assert "claude-x · 2,210 → 180 tokens · $0.0093" in folded
    assert "#decision" in folded
    whole = kept("show", ids["metres"], "--thinking", "--tools").out
    assert "A crown is 20 m." in whole
    assert "oak at 468 m" in whole


def test_the_end_of_a_dialog_and_the_last_one(kept: Shell, ids: dict[str, str]) -> None:
    assert kept("show", "garden", "-n", "1").out.splitlines()[-1] == "Take hornbeam."
    assert len(json.loads(kept("show", "cli:garden", "--last", "2", "--json").out)["messages"]) == 2
    newest = json.loads(kept("show", "--json").out)
    assert newest["id"] == ids["fine"]
    assert newest["messages"][-1]["text"] == "A fine oak."
    assert newest["messages"][-2]["blocks"][1]["name"] == "oak.png"


def test_what_is_not_there_and_what_is_not_clear_are_different_errors(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        lone, *many = store.save_messages([Save(user("x")) for _ in range(3)])
        for id, new in zip(many, ("twin01", "twin02"), strict=True):
            store.db._use().execute("UPDATE messages SET id = ? WHERE id = ?", (new, id))  # type: ignore[attr-defined]
    assert sh("show", lone[:4]).status == 0
    none, twins = sh("show", "nnnnnn"), sh("show", "twin")
    assert (none.status, none.out) == (3, "")
    assert none.err == "bough: Conversation not found: no message and no session is called 'nnnnnn'.\n"
    assert twins.status == 4
    assert "'twin01', 'twin02'" in twins.err
    error = json.loads(sh("show", "nnnnnn", "--json").err)["error"]
    assert error["code"] == "not_found"


def test_search_finds_words_and_says_where(kept: Shell, ids: dict[str, str]) -> None:
    done = kept("search", "oak")
    assert [line[:6] for line in done.out.splitlines()[::2]] == [ids["fine"], ids["picture"], ids["result"]]
    assert "telegram:42" in done.out
    (hit,) = json.loads(kept("search", "oak", "--session", "cli:garden", "--role", "tool_result", "--json").out)
    assert hit["id"] == ids["result"]
    assert hit["snippet"].startswith("oak at 0 m")
    assert kept("search", "hornbeam", "--label", "decision", "--since", "7d").out.startswith(ids["hornbeam"])
    assert kept("search", "oak", "--until", "2001-01-01").err == "Nothing found.\n"
    assert kept("search", "oak", "-n", "1").err == "There may be more: --offset 1.\n"
    assert kept("search", "hornbeam", "OR", "mongolia", "--syntax", "--best").out.count("\n") == 4
    assert kept("search", 'C++ "', "-foo-", "--channel", "cli").status in (0, 2)
    assert kept("search", "oak", "--since", "yesteryear").status == 2
    assert kept("search").status == 2


def test_sessions_are_listed_and_filtered(kept: Shell, ids: dict[str, str]) -> None:
    _, *rows = kept("sessions").out.splitlines()
    assert [row.split()[0] for row in rows] == ["telegram:42", "cli:birches", "cli:garden", "cli:notes"]
    assert rows[0].endswith("A fine oak.")
    assert "cli:garden:delegate:reviewer" in kept("sessions", "--subagents").out
    (delegate,) = json.loads(kept("sessions", "--of", "cli:garden", "--json").out)
    assert (delegate["agent"], delegate["parent"]) == ("reviewer", "cli:garden")
    assert len(json.loads(kept("sessions", "--channel", "cli", "--json").out)) == 3
    assert kept("sessions", "--here").err == "No sessions found.\n"
    assert kept("sessions", "-n", "1").err == "There are more; --all shows them, -n N shows N.\n"
    assert kept("sessions", "--limit", "1", "--all").err == ""


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("conversations",), "No messages found."),
        (("convo", "ls", "--flat"), "No messages found."),
        (("tree",), "No messages found."),
        (("sessions",), "No sessions found."),
        (("search", "x"), "Nothing found."),
        (("stats",), "No turns yet"),
        (("restore",), "The trash is empty."),
        (("clean",), "No conversation has been unused for 30d."),
        (("export", "--all"), "There is nothing to export yet."),
    ],
)
def test_an_empty_store_says_so_and_no_file_is_made(sh: Shell, words: tuple[str, ...], said: str) -> None:
    done = sh(*words)
    assert (done.status, done.out) == (0, "")
    assert said in done.err
    assert not sh.db.exists()


def test_showing_nothing_is_an_error(sh: Shell) -> None:
    done = sh("show")
    assert done.status == 3
    assert "No conversation to show" in done.err
    assert json.loads(sh("convo", "ls", "--json").out) == []


def test_a_conversation_that_branches_at_every_step_is_drawn_without_growing_sideways(sh: Shell) -> None:
    with bough.connect(sh.db) as store:
        parent, saves = None, []
        for number in range(2000):
            saves += [Save(user(f"again {number}"), parent), parent := Save(user(str(number)), parent)]
        store.save_messages(saves)
    lines = sh("ls").out.splitlines()
    assert sum(line.strip() != "------" for line in lines) == 4000
    assert max(map(len, lines)) < 130


def test_a_question_about_something_piped_in_is_listed_by_its_words(sh: Shell) -> None:
    talk = Talk(sh)
    model = talk.script("A line.")
    for piped in ("short", "x" * 20_000):
        sh("run", "-n", "-m", model, "What does this change?", stdin=piped)
    sh("run", "-n", "-m", model, stdin="only this")
    words = [row["words"] for row in json.loads(sh("tree", "--json").out) if row["role"] == "user"]
    assert words == ["What does this change?", "What does this change?", "only this"]


def test_looking_makes_no_directory_and_a_home_that_cannot_be_written_is_one_line(sh: Shell) -> None:
    elsewhere = {"BOUGH_DB": "", "XDG_DATA_HOME": str(sh.directory / "data")}
    assert sh("tree", **elsewhere).status == 0
    assert not (sh.directory / "data").exists()
    (sh.directory / "data").touch()  # no directory can be made in a file, not even by root
    assert sh("tree", **elsewhere).status == 0
    doctor = sh("doctor", **elsewhere)
    assert (doctor.status, "it cannot be made" in doctor.out) == (1, True)
    done = sh("run", "-m", Talk(sh).script("Hello."), "x", **elsewhere)
    assert done.status == 30
    assert "cannot be made" in done.err
    assert "--db" in done.err
