"""`bough status`: where you are, and what is unfinished."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import bough
from bough import Usage, assistant, user
from tests.cli.bough_process import Shell
from tests.cli.scripted_shell import ScriptedShell


def test_the_store_the_conversation_the_model_and_the_costs_are_shown(sh: Shell, tmp_path: Path) -> None:
    with bough.connect(sh.db) as store:
        session = store.session("cli:here", directory=str(tmp_path), title="Oaks")
        reply = session.save_turn([user("q"), assistant("**Twelve** metres.")], usage=Usage(10, 5, cost=0.25))[1]
    lines = [line.split(maxsplit=1) for line in sh("status", BOUGH_MODEL="local").out.splitlines()]
    found = {line[0]: line[1] for line in lines}
    assert found["Store"] == f"{sh.db} (from $BOUGH_DB), 2 messages"
    assert found["Directory"] == str(tmp_path)
    assert found["Conversation"].startswith("cli:here “Oaks”")
    assert found["Here"] == f"{reply} Twelve metres."
    assert found["Model"] == "local"
    assert found["Today"] == "10 → 5 tokens · $0.2500"
    as_json = json.loads(sh("status", "--json", BOUGH_MODEL="local").out)
    assert as_json["conversation"]["head"] == reply
    assert as_json["today"]["cost"] == 0.25
    assert as_json["unfinished"] == []


def test_without_a_store_nothing_is_made_and_the_next_step_is_named(sh: Shell) -> None:
    assert 'bough "…"' in sh("status").out
    assert not sh.db.exists()


def test_a_turn_whose_process_was_killed_is_named_by_status_run_and_chat(sh: Shell) -> None:
    talk = ScriptedShell(sh)
    talk.script("Fine.")
    talk.ask("first")
    talk.script({"blocks": [{"type": "text", "text": "slow " * 200}], "delay": 0.05})
    command = [sys.executable, "-m", "bough", "what was lost?"]
    child = subprocess.Popen(
        command, cwd=sh.directory, env={**sh.environment, "BOUGH_MODEL": "scripted:script"}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
    )  # fmt: skip
    assert child.stdout is not None
    child.stdout.read(5)
    os.kill(child.pid, signal.SIGKILL)
    child.communicate()
    for _ in range(50):
        if "Unfinished" in (status := sh("status").out):
            break
        time.sleep(0.1)
    assert "interrupted here: what was lost?" in status
    turn = json.loads(sh("status", "--json").out)["unfinished"][0]["turn"]
    assert f"bough run --resume {turn}" in status
    talk.script("Found.")
    assert f"/retry {turn}" in talk("chat", stdin="/quit\n").err
    assert f"bough run --resume {turn}" in talk("next").err
    with suppress(StopIteration), bough.connect(sh.db) as store:
        assert store.turn_info(turn).status == "interrupted"
