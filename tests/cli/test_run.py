"""`bough run` as a user runs it: every flag, every error, and what is kept."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import bough
from bough.cli import main
from bough.cli.ask import choose
from bough.cli.exits import INTERRUPTED, PROVIDER_STATUSES, STATUSES, STOPPED
from bough.config import Config, load
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import REPLIES, ScriptedShell, configure, id_in, texts


@pytest.fixture
def talk(sh: Shell) -> ScriptedShell:
    made = ScriptedShell(sh)
    made.script(*REPLIES)
    return made


def key_of(talk: ScriptedShell) -> str:
    return f"cli:{talk.sh.directory.name}"


# What is written where --------------------------------------------------------------------------------------------


def test_a_reply_that_cannot_be_written_is_stored_and_reported(talk: ScriptedShell) -> None:
    words = [sys.executable, "-m", "bough", "run", "-m", "scripted:script", "hello"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            words, cwd=talk.sh.directory, env=talk.sh.environment, stdin=subprocess.DEVNULL,
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "The reply cannot be written here: No space left on device." in done.stderr
    assert talk.dialog(key_of(talk))[0] == "hello"


def test_nothing_is_lost_where_the_locale_has_no_unicode(talk: ScriptedShell) -> None:
    talk.script("Grüße, 日本 😀")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert talk("run", "naïve?", **plain).status == 0
    assert talk.dialog(key_of(talk)) == ["naïve?", "Grüße, 日本 😀"]
    told = json.loads(talk("show", "--json", **plain).out)
    assert [one["text"] for one in told["messages"]] == ["naïve?", "Grüße, 日本 😀"]
    for format in ("md", "openai.chat"):
        assert "Grüße, 日本 😀" in talk("export", key_of(talk), "-f", format, **plain).out


def test_the_reply_goes_to_stdout_and_its_id_to_stderr(talk: ScriptedShell) -> None:
    done = talk("run", "hello", "there")
    assert (done.status, done.out) == (0, "First reply.\n")
    assert done.err == f"[{id_in(done.err)}]\n"
    assert texts(talk.path(id_in(done.err))) == ["hello there", "First reply."]


def test_a_reply_into_a_pipe_is_unformatted(talk: ScriptedShell) -> None:
    model = talk.script({"blocks": [{"type": "text", "text": "**a** \x1b[31m\ttab\nend\n"}]}, name="raw")
    assert talk("run", "-m", model, "x").out == "**a** \x1b[31m\ttab\nend\n"


def test_json_is_one_object(talk: ScriptedShell) -> None:
    model = talk.script(
        {"blocks": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "ok"}], "usage": {"input_tokens": 3}},
        name="one",
    )
    done = talk("run", "-m", model, "--json", "x")
    told = json.loads(done.out)
    assert done.err == ""
    assert told["text"] == "ok"
    assert told["thinking"] == "hm"
    assert told["usage"]["input_tokens"] == 3
    assert (told["status"], told["session"], told["provider"]) == ("complete", key_of(talk), "scripted")
    assert texts(talk.path(told["id"])) == ["x", "ok"]


def test_piped_input_is_part_of_the_question(talk: ScriptedShell) -> None:
    id = id_in(talk("run", "what is this?", stdin="some data\n").err)
    (question, _) = talk.path(id)
    assert [block.text for block in question.message.blocks if isinstance(block, bough.Text)] == [
        "<stdin>\nsome data\n\n</stdin>",
        "what is this?",
    ]
    id = id_in(talk("run", "-n", stdin="why?\n").err)
    assert talk.path(id)[0].message.text == "why?"
    id = id_in(talk("run", "-n", "-", stdin="why not?\n").err)
    assert talk.path(id)[0].message.text == "why not?"
    id = id_in(talk("run", "-n", "--skip-stdin", "just this", stdin="not this").err)
    assert talk.path(id)[0].message.text == "just this"


def test_files_are_attached(talk: ScriptedShell, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "b.bin").write_bytes(b"\x89PNG\r\n\x1a\n123")
    id = talk.ask("run", "-i", "a.txt", "--input", "b.bin", "see?")
    text, picture, words = talk.path(id)[0].message.blocks
    assert isinstance(text, bough.Text)
    assert isinstance(picture, bough.Media)
    assert (text.text, picture.mime, picture.name) == ('<file name="a.txt">\nA\n</file>', "image/png", "b.bin")
    assert words == bough.Text("see?")
    missing = talk("run", "-i", "nowhere", "x")
    assert (missing.status, missing.out) == (STATUSES["not_found"], "")
    assert "There is no file 'nowhere'; nothing was asked." in missing.err


def test_a_prompt_may_look_like_an_option_after_two_dashes(talk: ScriptedShell) -> None:
    assert talk.path(talk.ask("run", "--", "--help", "-c"))[0].message.text == "--help -c"
    assert talk.path(talk.ask("--", "tree", "of", "life"))[-2].message.text == "tree of life"
    wrong = talk("run", "-5 degrees")
    assert wrong.status == 2
    assert "--" in wrong.err


def test_an_empty_question_is_an_error_and_creates_nothing(talk: ScriptedShell) -> None:
    for words in (["run"], ["run", "-n"], ["run", "-c"], ["run", ""]):
        done = talk(*words)
        assert done.status == STATUSES["invalid"], words
        assert "nothing to ask" in done.err
    assert talk.keys() == []


# Which conversation -----------------------------------------------------------------------------------------------


def test_a_directory_continues_its_last_conversation(talk: ScriptedShell, tmp_path: Path) -> None:
    talk.ask("run", "one")
    talk.ask("run", "two")
    assert talk.dialog(key_of(talk)) == ["one", "First reply.", "two", "Second reply."]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    far = ScriptedShell(Shell(elsewhere, talk.sh.db))
    far.script(*REPLIES)
    assert texts(far.path(far.ask("run", "far"))) == ["far", "First reply."]
    assert far.keys()[0] == "cli:elsewhere"
    nothing = ScriptedShell(Shell(tmp_path, talk.sh.db))
    assert len(texts(nothing.path(nothing.ask("run", "-c", "three")))) == 6


def test_incognito_stores_nothing_and_may_read_the_store(talk: ScriptedShell) -> None:
    for flag in ("-G", "--incognito", "--no-save"):
        done = talk("run", flag, "quokka")
        assert (done.status, done.out, done.err) == (0, "First reply.\n", "")
    assert not talk.sh.db.exists()
    id = talk.ask("run", "open")
    assert talk("run", "-G", "-c", "quokka").out == "Second reply.\n"
    assert talk("run", "-G", "--resume", id, "quokka").out == "Second reply.\n"
    assert talk("run", "-G", "-c", id, "quokka").out == "Second reply.\n"
    assert json.loads(talk("run", "-G", "--json", "x").out)["id"] is None
    assert talk.dialog(key_of(talk)) == ["open", "First reply."]
    assert b"quokka" not in talk.sh.db.read_bytes()
    assert talk("run", "-G", "-c", "zzzzz9", "x").status == STATUSES["not_found"]


def test_c_is_followed_by_an_id_or_by_words(talk: ScriptedShell) -> None:
    first = talk.ask("run", "one")
    talk.ask("run", "-c", "two", "and a half")
    forked = talk("run", "-c", first, "other two")
    assert f"Forked at {first} as cli:" in forked.err
    assert texts(talk.path(id_in(forked.err))) == ["one", "First reply.", "other two", "Second reply."]
    assert texts(talk.path(talk.ask("run", f"--continue={first[:5]}", "third way")))[2] == "third way"
    assert talk.path(talk.ask("run", "-c", "a sentence"))[-2].message.text == "a sentence"
    assert talk("run", "-c", "q7q7q7", "x").err.startswith("bough: Conversation not found")


def test_a_named_session_and_a_whole_key(talk: ScriptedShell) -> None:
    talk.ask("run", "--session", "work", "one")
    talk.ask("run", "--session", "telegram:7", "two")
    assert talk.dialog("cli:work") == ["one", "First reply."]
    assert talk.dialog("telegram:7") == ["two", "First reply."]
    afresh = talk("run", "--session", "work", "-n", "again")
    assert "What was there is now cli:fork:" in afresh.err
    assert talk.dialog("cli:work") == ["again", "First reply."]


def test_contradictory_flags_are_a_one_line_error(talk: ScriptedShell) -> None:
    done = talk("run", "-n", "--resume", "x", "hi")
    assert (done.status, done.err) == (2, "bough: -n and --resume contradict each other; use one of them.\n")


# Who answers ------------------------------------------------------------------------------------------------------


def test_a_changed_model_is_stored_and_applies_from_then_on(talk: ScriptedShell) -> None:
    talk.ask("run", "one")
    other = talk.script("Other.", name="other")
    id = talk.ask("run", "-c", "-m", other, "two")
    with bough.connect(talk.sh.db) as store:
        assert store.session(key_of(talk)).info.model == other
        assert [turn.model for turn in store.turns()] == [other.partition(":")[2], "script"]
    assert texts(talk.path(id))[-1] == "Other."
    assert talk("run", "three").out == "Other.\n"


def test_an_agent_of_the_configuration_answers_and_is_stored(talk: ScriptedShell) -> None:
    critic = talk.script("Bad.", name="critic")
    configure(talk.sh, f'[agents.critic]\nmodel = "{critic}"\nsystem = "You criticise."\n')
    assert talk("run", "-a", "critic", "x").out == "Bad.\n"
    with bough.connect(talk.sh.db) as store:
        info = store.session(key_of(talk)).info
        assert (info.agent, info.model) == ("critic", None)
        assert store.turns()[0].instructions_digest is not None
    assert talk("run", "y").out == "Bad.\n"
    talk.ask("run", "-m", "scripted:script", "other model, same agent")
    assert talk("run", "-a", "critic", "the agent again").out == "Bad.\n"
    assert talk("run", "and it stays").out == "Bad.\n"
    talk.ask("run", "-m", "scripted:script", "back")
    configure(talk.sh, "")
    assert talk("run", "z").out == "First reply.\n"
    done = talk("run", "-a", "nobody", "x")
    assert done.status == STATUSES["config"]
    assert "There is no [agents.nobody]" in done.err


def test_a_system_prompt_applies_to_its_conversation(talk: ScriptedShell) -> None:
    def digests() -> list[bytes | None]:
        with bough.connect(talk.sh.db) as store:
            return [turn.instructions_digest for turn in reversed(store.turns())]

    talk.ask("run", "-s", "Be brief.", "one")
    talk.ask("run", "two")
    talk.ask("run", "--system", "", "three")
    talk.ask("run", "-n", "four")
    first, second, third, fourth = digests()
    assert first == second
    assert first is not None
    assert (third, fourth) == (None, None)
    assert "Be brief." not in " ".join(talk.dialog(key_of(talk)))


def test_the_error_without_a_model_names_the_command_to_run(talk: ScriptedShell, tmp_path: Path) -> None:
    done = talk("run", "x", BOUGH_MODEL="", BOUGH_CACHE=str(tmp_path / "cache"))
    assert done.status == PROVIDER_STATUSES["not_found"]
    assert "bough local install" in done.err
    assert done.err.count("\n") == 1


# What goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(PROVIDER_STATUSES))
def test_each_kind_of_provider_error_has_its_line_and_status(talk: ScriptedShell, kind: str) -> None:
    line = {"error": kind, "message": f"The cause: {kind}."}
    if kind == "cut":
        line = {"blocks": [{"type": "text", "text": "half an answer"}], "cut": 2}  # type: ignore[dict-item]
    done = talk("run", "-m", talk.script(line, name="bad"), "important question")
    assert done.status == PROVIDER_STATUSES[kind]
    hint, told = done.err.splitlines()
    assert told.startswith("bough: ")
    with bough.connect(talk.sh.db) as store:
        (turn,) = store.turns()
        assert turn.status == "failed"
        assert f"bough run --resume {turn.id}" in hint
        assert store.get_messages([turn.id])[0].message.text == "important question"


def test_a_deleted_working_directory_is_an_error(talk: ScriptedShell) -> None:
    script = 'mkdir gone; cd gone; rmdir ../gone; exec "$0" -m bough run hello'
    done = subprocess.run(
        ["sh", "-c", script, sys.executable], cwd=talk.sh.directory, env=talk.sh.environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (STATUSES["not_found"], "")
    assert "The working directory was deleted; change to another one." in done.stderr


def test_a_question_that_failed_is_asked_again_by_its_id(talk: ScriptedShell) -> None:
    failed = talk("run", "-m", talk.script({"error": "down"}, name="bad"), "important question")
    turn = failed.err.partition("--resume ")[2][:6]
    again = talk("run", "--resume", turn, "-m", talk.script("Now.", name="good"))
    assert (again.status, again.out) == (0, "Now.\n")
    assert talk.dialog(key_of(talk)) == ["important question", "Now."]


def test_an_error_is_json_when_json_was_asked_for(talk: ScriptedShell) -> None:
    done = talk("run", "--json", "-m", talk.script({"error": "key", "message": "No key."}, name="bad"), "x")
    assert json.loads(done.err) == {"error": {"code": "provider", "message": "No key."}}
    assert done.out == ""


def test_a_timeout_is_reported_and_the_turn_can_be_resumed(talk: ScriptedShell) -> None:
    slow = talk.script({"blocks": [{"type": "text", "text": "one two three four"}], "delay": 0.3}, name="slow")
    done = talk("run", "-m", slow, "--timeout", "0.7", "count")
    assert done.status == STOPPED
    assert "Stopped at the limit of 0.7 seconds." in done.err


def test_a_limit_of_steps_comes_from_the_configuration(talk: ScriptedShell) -> None:
    configure(talk.sh, "[run]\nmax_steps = 2\n")
    talk.script({"blocks": [{"type": "tool_call", "name": "nothing"}]})
    done = talk("run", "go on and on")
    assert done.status == STOPPED
    assert "Stopped at the limit of 2 steps." in done.err
    assert done.err.count("→ nothing") == 1  # the last step's calls are not done any more


def test_long_conversations_are_compacted_if_configured(talk: ScriptedShell) -> None:
    configure(talk.sh, "[conversation]\nmax_messages = 4\nkeep_turns = 1\n")
    errors = [talk("run", f"question {n}").err for n in range(3)]
    assert [("Older turns are summarized in" in err) for err in errors] == [False, False, False]
    assert "Older turns are summarized in" in talk("run", "question 3").err
    with bough.connect(talk.sh.db) as store:
        path = store.session(key_of(talk)).path()
    assert [node.kind for node in path].count("summary") == 1
    assert len(path) == 9  # the original stays


def running(talk: ScriptedShell, *words: str) -> subprocess.Popen[str]:
    environment = talk.sh.environment | {"BOUGH_MODEL": "scripted:script"}
    return subprocess.Popen(
        [sys.executable, "-m", "bough", *words],
        cwd=talk.sh.directory, env=environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def test_ctrl_c_stops_the_turn_which_stays_in_the_conversation(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "a b c " * 400}], "delay": 0.02})
    process = running(talk, "run", "long question")
    assert process.stdout is not None
    assert process.stdout.read(6) == "a b c "
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED
    assert "Stopped; the question and the part received are part of the conversation." in err
    talk.script("Whole.")
    assert talk("run", "next").out == "Whole.\n"
    dialog = talk.dialog(key_of(talk))
    assert (dialog[0], dialog[1][:5], dialog[2:]) == ("long question", "a b c", ["next", "Whole."])


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stores_the_partial_reply_and_shows_how_to_resume(talk: ScriptedShell, sent: signal.Signals) -> None:
    talk.script({"blocks": [{"type": "text", "text": "a b c " * 100}], "delay": 0.02}, "Whole.")
    process = running(talk, "run", "long question")
    assert process.stdout is not None
    assert process.stdout.read(6) == "a b c "
    process.send_signal(sent)
    _, err = process.communicate(timeout=20)
    assert process.returncode == INTERRUPTED
    with bough.connect(talk.sh.db) as store:
        (turn,) = store.turns()
        partial = store.get_messages([turn.last_id])[0]
    assert turn.status == "interrupted"
    assert partial.message.text.startswith("a b c")
    assert f"bough run --resume {turn.id}" in err
    assert "No conversation to continue" in talk("run", "-c", "next").err
    built = talk("run", "-c", partial.id, "go on")
    assert texts(talk.path(id_in(built.err)))[0] == "long question"
    talk.script("Whole.")
    assert talk("run", "--resume", turn.id, "in short").out == "Whole.\n"
    assert talk.dialog(key_of(talk))[-2:] == ["in short", "Whole."]


def test_a_kill_in_mid_stream_loses_at_most_the_last_second(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "word " * 400}], "delay": 0.01})
    process = running(talk, "run", "long question")
    assert process.stdout is not None
    shown = process.stdout.read(5 * 160)  # more than a second and a half of it
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    with bough.connect(talk.sh.db) as store:
        (turn,) = store.turns()
        kept = store.get_messages([turn.last_id])[0].message.text
    assert turn.status == "interrupted"
    assert kept.startswith("word word")
    assert len(kept) > len(shown) - 5 * 110


def test_a_reply_is_stored_when_its_reader_exits(talk: ScriptedShell) -> None:
    talk.script({"blocks": [{"type": "text", "text": "line\n" * 50}], "delay": 0.005})
    process = running(talk, "run", "many lines")
    assert process.stdout is not None
    process.stdout.read(5)
    process.stdout.close()
    process.wait(timeout=20)
    assert process.stderr is not None
    process.stderr.close()
    assert talk.dialog(key_of(talk)) == ["many lines", "line\n" * 50]


def test_concurrent_questions_in_one_directory_wait_for_each_other(talk: ScriptedShell) -> None:
    talk.ask("run", "zero")
    talk.script({"blocks": [{"type": "text", "text": "a b c d e f g h"}], "delay": 0.25})
    processes = [running(talk, "run", f"question {n}") for n in range(2)]
    told = "".join(process.communicate(timeout=60)[1] for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    assert told.count(f"Waiting for another turn in {key_of(talk)} to end.") == 1
    with bough.connect(talk.sh.db) as store:
        (info,) = store.sessions()
        assert [node.role for node in store.session(info.key).path()] == ["user", "assistant"] * 3
        assert all(turn.status == "complete" for turn in store.turns())


def test_an_unusable_model_changes_no_session(talk: ScriptedShell) -> None:
    first = id_in(talk("run", "one").err)
    talk("run", "two")
    for words in (("-c", first), ("-n",), ("--session", "other")):
        assert talk("run", *words, "-m", "nobody:x", "hello").status == PROVIDER_STATUSES["not_found"]
    assert [row["session"] for row in json.loads(talk("sessions", "--json").out)] == [key_of(talk)]


def test_the_error_for_a_sessions_unusable_model_names_the_flag_to_change_it(talk: ScriptedShell) -> None:
    with bough.connect(talk.sh.db) as store:
        store.session("claude-code:old", model="claude-sonnet-4-5").save_turn([bough.user("a"), bough.assistant("b")])
    done = talk("run", "--session", "claude-code:old", "go on")
    assert done.status == PROVIDER_STATUSES["key"]
    assert "held with 'claude-sonnet-4-5'; -m NAME uses another model" in done.err
    assert talk("run", "--session", "claude-code:old", "-m", "scripted:script", "go on").out == "Second reply.\n"
    assert talk("run", "--session", "claude-code:old", "and on").status == 0


def test_one_question_reads_the_configuration_and_finds_its_conversation_once(
    talk: ScriptedShell, monkeypatch: pytest.MonkeyPatch
) -> None:

    calls: list[object] = []

    def counted(function: Callable[..., object], name: Callable[..., object]) -> Callable[..., object]:
        def call(*words: object, **more: object) -> object:
            calls.append(name(*words))
            return function(*words, **more)

        return call

    talk.ask("run", "one")
    monkeypatch.chdir(talk.sh.directory)
    for variable, setting in {**talk.sh.environment, "BOUGH_MODEL": "scripted:script"}.items():
        monkeypatch.setenv(variable, setting)
    monkeypatch.setattr(Config, "table", counted(Config.table, lambda _, *section: section))
    monkeypatch.setattr("bough.config.load", counted(load, lambda *_: "load"))
    monkeypatch.setattr(choose, "find_last", counted(choose.find_last, lambda *_: "find_last"))
    assert main(["run", "--skip-stdin", "-c", "and then?"]) == 0
    assert [calls.count(one) for one in ("load", ("run",), "find_last")] == [1, 1, 1]


@pytest.mark.parametrize("command", ["run", "chat"])
def test_nothing_to_continue_creates_no_store(talk: ScriptedShell, command: str) -> None:
    for words in (
        ("-c", "hello"),
        ("-c", "a1b2c3", "hi"),
        ("--resume", "--", "hello"),
        ("--resume", "a1b2c3"),
        ("--session", "x", "-c", "hello"),
    ):
        done = talk(command, *words)
        assert done.status == STATUSES["not_found"], words
        assert not talk.sh.db.exists(), words
    assert "There is no store at 'named.db'" in talk(command, "--db", "named.db", "-c", "hello").err
    assert not (talk.sh.directory / "named.db").exists()
