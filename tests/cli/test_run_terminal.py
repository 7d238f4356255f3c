"""`bough run` before a person: what is on the screen while it works, and afterwards."""

from __future__ import annotations

import pytest

import bough
from bough.cli.exits import INTERRUPTED
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell
from tests.cli.terminal import Terminal


@pytest.fixture
def talk(sh: Shell) -> ScriptedShell:
    made = ScriptedShell(sh)
    made.script(
        {
            "blocks": [
                {"type": "thinking", "text": "Measure first.\x1b[1A"},
                {"type": "text", "text": "I will **measure** it. \x1b]0;owned\x07\u202e"},
                {"type": "tool_call", "name": "measure", "arguments": {"tree": "oak\x1b[2J"}},
            ]
        },
        "## Result\\n\\n- about `210` years",
    )
    return made


def run(talk: ScriptedShell, *words: str, **more: str) -> Terminal:
    return Terminal(talk.sh, "run", *words, **{"BOUGH_MODEL": "scripted:script", **more})


def test_thinking_tools_and_markdown_are_shown_and_escapes_are_harmless(talk: ScriptedShell) -> None:
    with run(talk, "how", "old?") as terminal:
        assert terminal.end() == 0
        lines = terminal.text.splitlines()
        assert lines[0] == "Measure first.␛[1A"
        assert lines[1] == "I will measure it. ␛]0;owned␇<U+202E>"
        assert lines[2].startswith("→ measure {")
        assert "\\u001b[2J" in lines[2]
        assert lines[3].startswith("✗ There is no tool 'measure'")
        assert lines[4:7] == ["Result", "", "• about 210 years"]
        assert lines[7].startswith("[")
        assert terminal.screen.title != "owned"
        assert terminal.screen.buffer[4][0].bold


def test_without_colours_the_reply_is_plain_and_still_harmless(talk: ScriptedShell) -> None:
    for words, more in (([], {"NO_COLOR": "1"}), (["--raw"], {})):
        with run(talk, "-G", *words, "how old?", **more) as terminal:
            assert terminal.end() == 0
            assert "I will **measure** it. ␛]0;owned␇<U+202E>" in terminal.text
            assert "- about `210` years" in terminal.text


def test_a_terminal_that_knows_no_escapes_gets_none(talk: ScriptedShell) -> None:
    with run(talk, "how", "old?", TERM="dumb") as terminal:
        written = terminal.process.read()
    assert b"\x1b" not in written
    assert b"about `210` years" in written


def test_ctrl_c_on_a_terminal_stops_the_turn_and_the_next_question_follows_it(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "tick tock " * 200}], "delay": 0.03})
    with run(talk, "count") as terminal:
        terminal.see("tick tock tick")
        terminal.type("\x03")
        assert terminal.end() == INTERRUPTED
        assert "Stopped; the question and the part received are part of the conversation." in terminal.text
    with bough.connect(talk.sh.db) as store:
        (turn,) = store.turns()
        assert turn.status == "stopped"
        assert store.get_messages([turn.last_id])[0].message.text.startswith("tick tock tick")
    talk.script("Whole.")
    talk.ask("run", "next")
    dialog = talk.dialog(f"cli:{talk.sh.directory.name}")
    assert (dialog[0], dialog[1][:4], dialog[2:]) == ("count", "tick", ["next", "Whole."])


def test_ctrl_c_before_the_reply_keeps_the_question_in_the_conversation(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "never seen"}], "delay": 30})
    with run(talk, "count") as terminal:
        terminal.see("…")
        terminal.type("\x03")
        assert terminal.end() == INTERRUPTED
        assert "Stopped; the question is part of the conversation." in terminal.text
    talk.script("Whole.")
    talk.ask("run", "next")
    assert talk.dialog(f"cli:{talk.sh.directory.name}") == ["count", "next", "Whole."]


def test_a_waiting_sign_is_shown_before_the_first_token(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "at last"}], "delay": 1.0})
    with run(talk, "slow") as terminal:
        terminal.see("…")
        terminal.see("at last")
        assert "…" not in terminal.text
