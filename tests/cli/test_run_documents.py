"""Every command line of the documents that bough follows, with `bough` in the place of their programs."""

from __future__ import annotations

import shlex

import pytest

from bough.cli.exits import STATUSES
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell

REFUSED, NOT_FOUND = STATUSES["refused"], STATUSES["not_found"]

DOCUMENTS: dict[str, list[tuple[str, int, str]]] = {
    "CPE: ask, continue, fork, incognito": [
        ("hello again", 0, "Third."),
        ("-c {first} other way", 0, "Second."),
        ("--continue {first} third way", 0, "Second."),
        ("-n start over", 0, "First."),
        ("--new start over", 0, "First."),
        ("-G nobody knows", 0, "First."),
        ("--incognito nobody knows", 0, "First."),
        ("-c zz9zz9 lost", NOT_FOUND, "Conversation not found"),
    ],
    "CPE: conversation": [
        ("conversation list", 0, "[ASSISTANT] Second."),
        ("convo ls", 0, "[USER] one"),
        ("conversation print {second}", 0, "Second."),
        ("convo show {second}", 0, "First."),
        ("convo view {second}", 0, "two"),
        ("conversation delete {first}", REFUSED, "--cascade"),
        ("convo rm {second}", 0, ""),
        ("conversation delete --cascade {first}", 0, ""),
        ("conversation print {first}", NOT_FOUND, "not found"),
    ],
    "orcx": [
        ("run -m scripted:other 'explain this code'", 0, "Other."),
        ("run -c 'what about error handling?'", 0, "Other."),
        ("run --resume {first} 'one more question'", 0, "Other."),
        ("run --resume zz9zz9 'one more question'", NOT_FOUND, "Conversation not found"),
        ("run --no-save 'not kept'", 0, "First."),
        ("conversations", 0, "one more question"),
        ("conversations show {first}", 0, "First."),
        ("conversations clean", 0, ""),
        ("conversations delete {second} --cascade", 0, ""),
    ],
    "egirl": [
        ("run --session other 'good morning'", 0, "First."),
        ("--session other 'how are you?'", 0, "Second."),
        ("chat --session other /history", 0, "good morning"),
        ("chat --session other /clear", 0, "Empty now."),
        ("chat --session other /new", 0, "A new conversation"),
    ],
    "Amazon Q": [
        ("chat 'hello'", 0, "Third."),
        ("chat --resume 'and now?'", NOT_FOUND, "Conversation not found"),
        ("chat --resume -- 'and now?'", 0, "First."),
    ],
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_command_lines_of_a_document_work(sh: Shell, document: str) -> None:
    talk = ScriptedShell(sh)
    talk.script("First.", "Second.", "Third.")
    talk.script("Other.", name="other")
    ids = {"first": talk.ask("run", "one"), "second": talk.ask("run", "two")}
    for line, status, told in DOCUMENTS[document]:
        done = talk(*shlex.split(line.format(**ids)))
        assert done.status == status, (line, done)
        assert told in done.out + done.err, (line, done)


def test_the_error_for_nothing_to_continue_matches_the_documents(sh: Shell) -> None:
    talk = ScriptedShell(sh)
    talk.script("First.")
    for words in (["run", "-c", "hello"], ["-c", "hello"], ["run", "--resume", "--", "hello"], ["chat", "-c"]):
        done = talk(*words)
        assert done.status == NOT_FOUND
        assert done.err.startswith("bough: No conversation to continue")
    assert talk("run", "--resume", "a1b2c3", "hi").err.startswith("bough: Conversation not found")
