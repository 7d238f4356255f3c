"""`[privacy] redact = true`: the command line stores no secrets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bough
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell

SECRET = "ghp_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
CLEAN = "[redacted: github-token]"
REPORT = "Secrets were replaced before saving: github-token.\n"


@pytest.fixture
def talk(sh: Shell) -> ScriptedShell:
    talk = ScriptedShell(sh)
    talk.script(f"It is {SECRET}.", "Hello.")
    return talk


def config(sh: Shell, text: str) -> str:
    path = sh.directory / "config.toml"
    path.write_text(text)
    return str(path)


def texts(db: Path) -> list[str]:
    with bough.connect(db) as store:
        return [node.message.text for node in store.list_messages(ascending=True)]


def test_a_run_stores_no_secrets_and_reports_their_kinds_on_one_line(talk: ScriptedShell) -> None:
    done = talk("run", f"Keep {SECRET}", BOUGH_CONFIG=config(talk.sh, "[privacy]\nredact = true\n"))
    assert done.status == 0, done.err
    assert texts(talk.sh.db) == [f"Keep {CLEAN}", f"It is {CLEAN}."]
    assert done.err.count(REPORT) == 1


def test_nothing_is_reported_when_nothing_was_replaced(talk: ScriptedShell) -> None:
    talk.script("Hello.")
    done = talk("run", "Hello?", BOUGH_CONFIG=config(talk.sh, "[privacy]\nredact = true\n"))
    assert "Secrets" not in done.err


@pytest.mark.parametrize("text", ["", "[privacy]\nredact = false\n"])
def test_redaction_is_off_by_default(talk: ScriptedShell, text: str) -> None:
    done = talk("run", f"Keep {SECRET}", BOUGH_CONFIG=config(talk.sh, text))
    assert texts(talk.sh.db)[0] == f"Keep {SECRET}"
    assert "Secrets" not in done.err


def test_an_import_stores_no_secrets(sh: Shell) -> None:
    (sh.directory / "chat.json").write_text(json.dumps({"messages": [{"role": "user", "content": SECRET}]}))
    done = sh("import", "chat.json", BOUGH_CONFIG=config(sh, "[privacy]\nredact = true\n"))
    assert done.status == 0, done.err
    assert texts(sh.db) == [CLEAN]
    assert REPORT in done.err


def test_a_broken_configuration_stores_nothing_unredacted(talk: ScriptedShell) -> None:
    done = talk("run", f"Keep {SECRET}", BOUGH_CONFIG=config(talk.sh, "[privacy]\nredact = 'yes'\n"))
    assert done.status == 10
    assert not talk.sh.db.exists() or texts(talk.sh.db) == []
