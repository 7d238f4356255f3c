"""`bough doctor` says how the channels of the configuration are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.channels.conftest import Talk


def checks(talk: Talk, directory: Path) -> list[Any]:
    """The checks of channels."""
    db = str(directory / "s.db")
    words = [sys.executable, "-m", "bough", "--config", str(talk.config), "--db", db, "doctor", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, env={"HOME": str(directory), "PATH": ""}, check=False)
    return [(one["verdict"], one["detail"]) for one in json.loads(done.stdout) if one["name"] == "telegram"]


def test_a_channel_that_runs_and_one_that_does_not(talk: Talk, tmp_path: Path) -> None:
    assert checks(talk, tmp_path) == [("ok", "not running; 0 events are open, 1 on the list, 0 let in with codes")]
    with talk.running():
        assert checks(talk, tmp_path) == [("ok", "running; 0 events are open, 1 on the list, 0 let in with codes")]


def test_a_channel_that_nobody_may_use_or_that_has_no_token(talk: Talk, tmp_path: Path) -> None:
    talk.configure("")
    assert ("hint", "nobody may talk to it: set allow, or bough bot telegram --pair") in checks(talk, tmp_path)
    talk.config.write_text(talk.config.read_text().replace('token = "42:TEST"', ""))
    (found,) = checks(talk, tmp_path)
    assert found[0] == "bad"
    assert "BOUGH_TELEGRAM_TOKEN" in found[1]
