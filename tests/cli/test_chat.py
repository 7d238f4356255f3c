"""`bough chat` on a real pseudo-terminal: asked, stopped, moved about in, hung up on."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import pytest

import bough
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import REPLIES, ScriptedShell, configure, texts
from tests.cli.terminal import Terminal

SLOW = {"blocks": [{"type": "text", "text": "tick tock " * 200}], "delay": 0.03}


@pytest.fixture
def talk(sh: Shell) -> ScriptedShell:
    made = ScriptedShell(sh)
    made.script(*REPLIES)
    return made


def chat(talk: ScriptedShell, *words: str, **more: str) -> Terminal:
    return Terminal(talk.sh, "chat", *words, **{"BOUGH_MODEL": "scripted:script", **more})


def key_of(talk: ScriptedShell) -> str:
    return f"cli:{talk.sh.directory.name}"


def test_chat_and_run_continue_each_others_conversation(talk: ScriptedShell) -> None:
    talk.ask("run", "from run")
    with chat(talk) as terminal:
        terminal.see("from run", "First reply.", "›")  # the last exchange, to know where we are
        terminal.say("from chat")
        terminal.see("Second reply.")
        talk.ask("run", "meanwhile, elsewhere")
        terminal.say("chat again")
        terminal.see("chat again\nFirst reply.")
        terminal.type("\x04")
        terminal.see("To go on: bough chat -c")
        assert terminal.end() == 0
        assert "␛" not in terminal.text
    talk.ask("run", "-c", "from run again")
    assert talk.dialog(key_of(talk)) == [
        "from run", "First reply.", "from chat", "Second reply.", "meanwhile, elsewhere", "Third reply.",
        "chat again", "First reply.", "from run again", "Second reply.",
    ]  # fmt: skip


def test_markdown_is_rendered_and_hostile_text_is_harmless(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "**bold** \x1b[2J\x1b]0;owned\x07 `code`\n\n- item"}]})
    with chat(talk, "first question") as terminal:
        screen = terminal.see("bold ␛[2J␛]0;owned␇ code", "• item")
        assert "first question" not in screen.partition("bold")[2]
        assert terminal.screen.title != "owned"
        row = next(n for n, line in enumerate(terminal.screen.display) if line.startswith("bold"))
        assert terminal.screen.buffer[row][0].bold


def test_ctrl_c_stops_the_reply_and_not_the_chat(talk: ScriptedShell) -> None:
    talk.script(SLOW, "Whole.")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("count")
        terminal.see("tick tock tick")
        terminal.type("\x03")
        terminal.see("Stopped; the question and the part received are part of the conversation.")
        terminal.say("go on")
        terminal.see("Whole.")
        terminal.say("/quit")
        assert terminal.end() == 0
    dialog = talk.dialog(key_of(talk))
    assert dialog[0] == "count"
    assert dialog[1].startswith("tick tock")
    assert dialog[2:] == ["go on", "Whole."]


def test_a_chat_says_which_turn_was_interrupted_and_resumes_it(talk: ScriptedShell) -> None:
    talk.ask("run", "before")
    with bough.connect(talk.sh.db) as store:
        turn = store.session(key_of(talk)).turn("left")
        turn.sketch("half")
        turn.interrupt()
    with chat(talk) as terminal:
        terminal.see(f"Turn {turn.id} was interrupted here: /retry {turn.id} resumes it.")
        terminal.say("/retry")
        terminal.see("Second reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk)) == ["before", "First reply.", "left", "Second reply."]


def test_ctrl_c_at_the_prompt_discards_the_line(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.type("never sent")
        terminal.see("never sent")
        terminal.type("\x03")
        terminal.say("really sent")
        terminal.see("First reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk))[0] == "really sent"


@pytest.mark.parametrize("how", ["hang up", "SIGTERM"])
def test_a_terminal_lost_during_a_reply_loses_nothing(talk: ScriptedShell, how: str) -> None:
    talk.script(SLOW)
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("count")
        terminal.see("tick tock tick")
        if how == "hang up":
            terminal.hang_up()
        else:
            terminal.process.kill(signal.SIGTERM)
            terminal.end()
    with bough.connect(talk.sh.db) as store:
        (turn,) = store.turns()
        kept = store.get_messages([turn.last_id])[0].message.text
    assert turn.status == "interrupted"
    assert kept.startswith("tick tock tick")


def test_multiline_input_is_one_question(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.type("one\x1b\rtwo\\\rthree")
        terminal.see("three")
        terminal.type("\r")
        terminal.see("First reply.")
        terminal.type("\x1b[200~pasted\nlines\x1b[201~")
        terminal.see("lines")
        terminal.type("\r")
        terminal.see("Second reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk))[::2] == ["one\ntwo\nthree", "pasted\nlines"]


def test_completion_and_input_history(talk: ScriptedShell) -> None:
    id = talk.ask("run", "one")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.type("/rew\t")
        terminal.see("/rewind")
        terminal.type(f" {id[:3]}\t")
        terminal.see(f"/rewind {id}")
        terminal.type("\x15remember me")
        terminal.see("remember me")
        terminal.type("\r")
        terminal.see("Second reply.")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.type("\x10")
        terminal.see("› remember me")
    history = talk.sh.directory / ".local" / "state" / "bough" / "history"
    assert history.stat().st_mode & 0o077 == 0


def test_the_commands_new_fork_rewind_resume_and_tree(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("one")
        first = terminal.find(r"\[(\w{6})\]")
        terminal.say("two")
        terminal.see("Second reply.")
        terminal.say("/rewind")
        terminal.see(f"Back at {first}.")
        terminal.type("\x15")  # the question that was left is in the editor
        terminal.say("other two")
        terminal.see("other two\nSecond reply.")
        terminal.say("/fork")
        fork = terminal.find(r"Forked at \w{6}: (\S+) ")
        terminal.say("three")
        terminal.see("Third reply.")
        terminal.say(f"/tree {first}")
        terminal.see("← here", f", {fork}", key_of(talk), "├──", "╰──")
        terminal.say("/new Fresh start")
        terminal.see("A new conversation")
        terminal.say("afresh")
        terminal.see("afresh\nFirst reply.")
        terminal.say(f"/resume {first}")
        terminal.see(f"{key_of(talk)} · ", "other two")
        terminal.say("/resume")
        terminal.see("Continue · here", "Fresh start", fork)
        terminal.type("q")
        terminal.find("(?m)^.{0,3}›$")
        terminal.say("/resume nobody")
        terminal.see("bough: Conversation not found")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk)) == ["one", "First reply.", "other two", "Second reply."]
    assert talk.dialog(fork)[-2:] == ["three", "Third reply."]


def test_the_commands_history_title_search_export_and_clear(talk: ScriptedShell, tmp_path: Path) -> None:
    with chat(talk, "--session", "work") as terminal:
        terminal.see("›")
        terminal.say("/history")
        terminal.see("This conversation is empty.")
        terminal.say("about oaks")
        terminal.see("First reply.")
        terminal.say("/history")
        terminal.see("USER", "ASSISTANT", "about oaks")
        terminal.say("/title Old oaks")
        terminal.see("Title: Old oaks")
        terminal.say("/search oaks")
        terminal.see("[USER] cli:work")
        terminal.say("/search nowhere")
        terminal.see("Nothing found.")
        terminal.say("/export")
        terminal.see("Wrote cli-work.md")
        terminal.say("/export talk.html")
        terminal.see("Wrote talk.html")
        terminal.say("/export talk.jsonl")
        terminal.see("Wrote talk.jsonl")
        terminal.say("/clear")
        terminal.see("Empty now. bough restore")
        terminal.say("/clear")
        terminal.see("\nEmpty.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog("cli:work") == []
    assert "First reply." in (tmp_path / "cli-work.md").read_text()
    assert "<html" in (tmp_path / "talk.html").read_text()
    with (tmp_path / "talk.jsonl").open() as lines:
        assert [role for line in lines if (role := json.loads(line).get("role"))] == ["user", "assistant"]
    with bough.connect(talk.sh.db) as store:
        assert store.session("cli:work").info.title == "Old oaks"
        assert len(store.trash()) == 1


def test_the_commands_model_agent_system_attach_and_compact(talk: ScriptedShell, tmp_path: Path) -> None:
    other = talk.script("Other one.", "Other two.", name="other")
    configure(talk.sh, f'[agents.critic]\nmodel = "{other}"\nsystem = "You criticise."\n')
    (tmp_path / "notes.txt").write_text("NOTES")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/model scripted:nowhere")
        terminal.see("bough: The script 'nowhere' cannot be read")
        terminal.say("one")
        terminal.see("First reply.")
        terminal.say(f"/model {other}")
        terminal.see("other")
        terminal.say("/attach notes.txt")
        terminal.see("With the next question: notes.txt")
        terminal.say("two")
        terminal.see("Other two.")
        terminal.say("/system Be brief.")
        terminal.see("System prompt: Be brief.")
        terminal.say("/system -")
        terminal.see("No system prompt.")
        terminal.say("/agent critic")
        terminal.see("other")
        terminal.say("/compact 1")
        terminal.see("Summarized in")
        terminal.say("/compact 1")
        terminal.see("There are no more than 1 turns.")
    with bough.connect(talk.sh.db) as store:
        session = store.session(key_of(talk))
        assert (session.info.model, session.info.agent) == (other, "critic")
        path = session.path()
        assert path[-1].kind == "summary"
        (paid,) = store.list_replies(of=[path[-1].id])
        assert (paid.turn_id, f"{paid.provider}:{paid.model}") == (None, other)
        assert path[2].message.text == '<file name="notes.txt">\nNOTES\n</file>\ntwo'


def test_the_commands_help_and_quit_and_lines_that_are_not_commands(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/help")
        terminal.see("/new", "/clear", "/history", "/fork", "/rewind", "/tree", "/resume", "/model", "/compact")
        terminal.see("/title", "/search", "/export", "/system", "/help", "/quit")
        terminal.say("/forc")
        terminal.see("There is no /forc. Did you mean /fork?")
        terminal.say("/etc/passwd what is it")
        terminal.see("First reply.")
        terminal.say(" /help is what?")
        terminal.see("Second reply.")
        terminal.say("/rewind 9")
        terminal.see("it cannot go back by 9")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk))[::2] == ["/etc/passwd what is it", "/help is what?"]


def test_a_providers_error_does_not_end_the_chat(talk: ScriptedShell) -> None:
    talk.script({"error": "rate_limit", "message": "Too many requests."}, "Later.")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("now")
        terminal.see("bough: Too many requests.", "The question is kept: /retry")
        terminal.say("/title still here")
        terminal.see("Title: still here")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk)) == []


def test_an_incognito_chat_stores_nothing(talk: ScriptedShell) -> None:
    with chat(talk, "-G") as terminal:
        terminal.see("incognito: nothing is stored")
        terminal.say("secret")
        terminal.see("First reply.")
        terminal.say("again")
        terminal.see("Second reply.")
        terminal.type("\x04")
        assert terminal.end() == 0
        assert "To go on" not in terminal.text
    assert not talk.sh.db.exists()
    assert not (talk.sh.directory / ".local" / "state").exists()


def test_chat_reads_from_a_pipe(talk: ScriptedShell) -> None:
    done = talk("chat", "-n", stdin="one\n/title piped\n\ntwo\n")
    assert done.status == 0
    assert done.out == "First reply.\nSecond reply.\n"
    assert texts(talk.path(re.findall(r"\[(\w{6})\]", done.err)[-1]))[::2] == ["one", "two"]


def test_edit_and_up_put_a_question_back_and_branch_there(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("one")
        terminal.see("First reply.")
        terminal.say("two")
        terminal.see("Second reply.")
        terminal.say("/edit")
        terminal.see("Enter asks it as another branch", "› two")
        terminal.type(" again\r")
        terminal.see("two again\nSecond reply.")
        terminal.type("\x1b[A")
        terminal.find("(?m)^› two again$")
        terminal.type("\x1b[A")
        terminal.find("(?m)^› one$")
        terminal.type(" more\r")
        terminal.see("one more\nFirst reply.")
        terminal.type("\x1b[A")
        terminal.see("› one more")
        terminal.type("\x03")  # leaves it as it is
        terminal.say("goes on")
        terminal.see("goes on\nSecond reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk)) == ["one more", "First reply.", "goes on", "Second reply."]
    with bough.connect(talk.sh.db) as store:
        questions = [node for node in store.list_messages(ascending=True) if node.role == "user"]
        parents = {node.message.text: node.parent_id for node in questions}
    assert parents["two"] == parents["two again"]
    assert parents["one"] == parents["one more"] is None


def test_rewind_refills_the_editor(talk: ScriptedShell) -> None:
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("first")
        terminal.see("First reply.")
        terminal.say("long question")
        terminal.see("Second reply.")
        terminal.say("/rewind")
        terminal.see("Nothing was deleted.", "› long question")
        terminal.type(" in short\r")
        terminal.see("in short\nSecond reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk)) == ["first", "First reply.", "long question in short", "Second reply."]


def test_regen_answers_again_also_with_another_model(talk: ScriptedShell) -> None:
    other = talk.script("Of the other model.", "The same.", name="other")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/regen")
        terminal.see("no question to answer again")
        terminal.say("why?")
        terminal.see("First reply.")
        terminal.say(f"/regen -m {other}")
        terminal.see("Of the other model.")
        terminal.say("/status")
        terminal.see("scripted: script · one of 2 branches")
        terminal.say("/regen")
        terminal.find("(?s)/regen\nFirst reply|First reply.*First reply")
        terminal.say("/regen -m")
        terminal.see("Write: /regen")
    with bough.connect(talk.sh.db) as store:
        session = store.session(key_of(talk))
        (question,) = [node for node in store.list_messages() if node.role == "user"]
        answers = store.children(question.id)
        assert [node.message.text for node in answers] == ["First reply.", "Of the other model.", "First reply."]
        assert session.head == answers[-1].id
        assert session.info.model != other  # it was asked only this once


def test_code_is_printed_and_copied_and_copy_copies_the_answer(talk: ScriptedShell) -> None:
    answer = "So:\\n```python\\nprint(1)\\n```\\nor\\n```\\nls\\n```"
    talk.script(answer)
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/copy")
        terminal.see("There is no answer here yet.")
        terminal.say("code")
        terminal.see("ls")
        terminal.say("/code 2")
        terminal.see("/code 2\nls", "Copied 3 characters.")
        terminal.say("/code")
        terminal.see("/code\nprint(1)", "first of 2 code blocks")
        terminal.say("/copy")
        terminal.see("Copied 40 characters.")


def test_what_is_typed_during_a_reply_waits_in_the_editor_and_stop_stops(talk: ScriptedShell) -> None:
    talk.script(SLOW, "Whole.")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("count")
        terminal.see("tick tock tick")
        terminal.type("my next question\n")
        terminal.type("/stop\n")
        terminal.see("Stopped; the question and the part received are part of the conversation.")
        terminal.find("(?m)^› my next question$")
        terminal.type("\r")
        terminal.see("Whole.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk))[2:] == ["my next question", "Whole."]


def test_an_editor_of_the_users_choice_writes_the_question(talk: ScriptedShell, tmp_path: Path) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text('#!/bin/sh\nprintf "written in an editor" > "$1"\n')
    editor.chmod(0o755)
    with chat(talk, EDITOR=str(editor)) as terminal:
        terminal.see("›")
        terminal.type("\x18\x05")
        terminal.see("› written in an editor")
        terminal.type("\r")
        terminal.see("First reply.")
        terminal.say("/quit")
        assert terminal.end() == 0
    assert talk.dialog(key_of(talk))[0] == "written in an editor"


def test_the_model_is_chosen_from_a_list(talk: ScriptedShell) -> None:
    other = talk.script("Other one.", name="other")
    configure(talk.sh, f'[agents.critic]\nmodel = "{other}"\n')
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/model")
        terminal.see("The model from now on", "1. scripted:script", "2. scripted:other")
        terminal.type("\x1b[B\r")
        terminal.see("scripted: other")
        terminal.say("hello")
        terminal.see("Other one.")


def test_the_browser_continues_where_a_message_was_chosen(talk: ScriptedShell) -> None:
    first = talk.ask("run", "one")
    talk.ask("run", "two")
    with chat(talk) as terminal:
        terminal.see("›")
        terminal.say("/tree")
        terminal.see("Continue · here", "Enter open")
        terminal.type("l")
        terminal.see("Enter continue here")
        terminal.type("kk\r")  # from the second reply to the first
        terminal.see(f"Forked at {first}")
        terminal.say("another two")
        terminal.see("another two\nSecond reply.")
    (fork,) = set(talk.keys()) - {key_of(talk)}
    assert talk.dialog(fork) == ["one", "First reply.", "another two", "Second reply."]
