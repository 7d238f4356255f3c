"""Configured tools, delegates and subagents, through `bough run` in real processes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

import bough
from tests.cli.bough_process import Shell

SERVER = str(Path(__file__).with_name("mcp_server.py"))
PYTHONPATH = os.environ.get("PYTHONPATH", "")


@pytest.fixture
def sh(tmp_path: Path) -> Shell:
    return Shell(tmp_path, tmp_path / "chats.db")


def call(name: str, **arguments: str) -> str:
    return json.dumps({"blocks": [{"type": "tool_call", "name": name, "arguments": arguments}]})


def configure(sh: Shell, script: list[str], rest: str) -> dict[str, str]:
    """Writes a script for the model and a configuration around it; the variable that names it."""
    (sh.directory / "script").write_text("\n".join(script), "utf-8")
    (sh.directory / "scout").write_text("Three oaks.", "utf-8")
    (sh.directory / "config.toml").write_text(
        f"""
[run]
model = "scripted:{sh.directory / "script"}"
agents = ["scout"]
[agents.scout]
model = "scripted:{sh.directory / "scout"}"
description = "Looks around."
tools = []
{rest}
""",
        "utf-8",
    )
    return {"BOUGH_CONFIG": str(sh.directory / "config.toml")}


def test_a_configured_server_and_delegate_are_used_and_only_the_users_session_is_continued(sh: Shell) -> None:
    forest = f"[agents.plain]\ntools = []\n[mcp.forest]\ncommand = [{sys.executable!r}, {SERVER!r}]\ntimeout = 30"
    script = [call("forest__girth", tree="oak"), call("scout", task="Look."), "Thick, and there are three.", "Yes."]
    settings = configure(sh, script, forest)
    asked = sh("run", "How thick, and how many?", **settings)
    assert (asked.status, asked.out) == (0, "Thick, and there are three.\n")
    assert "oak: 4.1 m" in asked.err
    assert "Three oaks." in asked.err
    assert "the forest is awake" not in asked.err
    again = sh("run", "-a", "plain", "-c", "Sure?", **settings)  # who may use no server starts none
    assert again.out == "Yes.\n"
    with bough.connect(sh.db) as store:
        (session,) = store.sessions(delegates=False)
        (helper,) = store.sessions(parent=session.key)
        assert helper.agent == "scout"
        assert len(store.session(helper.key).path()) == 2
        assert [node.message.text for node in store.session(session.key).path()][-2:] == ["Sure?", "Yes."]


def test_a_subagent_in_another_process_uses_the_same_store_and_stores_nothing_if_incognito(
    sh: Shell,
) -> None:
    words = json.dumps([sys.executable, "-m", "bough", "mcp", "agent", "scout"])
    colleague = f"[mcp.colleague]\ncommand = {words}\nenv = {{ PYTHONPATH = {PYTHONPATH!r} }}"
    settings = configure(sh, [call("colleague__scout", task="Look."), "There are three."], colleague)
    secret = sh("run", "--no-save", "How many?", **settings)
    assert (secret.status, secret.out) == (0, "There are three.\n")
    assert "Three oaks." in secret.err
    assert not sh.db.exists()
    assert sh("run", "How many?", **settings).out == "There are three.\n"
    with bough.connect(sh.db) as store:
        (session,) = store.sessions(delegates=False)
        (helper,) = store.sessions(parent=session.key)
        assert helper.key.startswith(f"{session.key}:delegate:scout:")
        assert store.turns(helper.key)[0].caller_id == store.session(session.key).path()[1].id


def test_a_server_that_fails_to_start_is_a_one_line_error_before_any_request(sh: Shell) -> None:
    settings = configure(sh, ["never said"], '[mcp.rotten]\ncommand = ["no-such-program"]')
    done = sh("run", "hello", **settings)
    assert (done.status, done.out) == (11, "")
    assert "The MCP server 'rotten' cannot be used" in done.err
    assert "Traceback" not in done.err
    with bough.connect(sh.db) as store:
        assert store.turns() == []


def test_the_error_for_an_unconfigured_delegate_names_it(sh: Shell) -> None:
    settings = configure(sh, ["never said"], '[agents.boss]\nagents = ["nobody"]')
    done = sh("run", "-a", "boss", "hello", **settings)
    assert done.status == 10
    assert "nobody" in done.err
