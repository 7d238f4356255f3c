"""An editor, played by the official client of the Agent Client Protocol, uses bough with its history."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import McpServerStdio

import bough

Work = Callable[[Any, "Editor"], Awaitable[Any]]


class Editor(acp.Client):
    """Keeps the updates that it is sent."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.came = asyncio.Event()

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update.model_dump(by_alias=True, exclude_none=True))
        self.came.set()

    def words(self, kind: str) -> str:
        """The text of all updates of a kind."""
        return "".join(one["content"]["text"] for one in self.updates if one["sessionUpdate"] == kind)


SCRIPTS = {
    "m": ["one", "two", "three"],
    "slow": ['{"blocks": [{"type": "text", "text": "a b c d e f g h i j"}], "delay": 0.3}'],
    "thinks": ['{"blocks": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "so"}]}'],
    "broken": ['{"error": "rate_limit", "message": "too many"}'],
}


def command(directory: Path, model: str = "m") -> list[str]:
    (directory / "c.toml").write_text("")
    for name, lines in SCRIPTS.items():
        (directory / f"{name}.script").write_text("\n".join(lines))
    return [sys.executable, "-m", "bough", "--config", str(directory / "c.toml"), "--db", str(directory / "s.db"),
            "acp", "-m", f"scripted:{directory}/{model}.script"]  # fmt: skip


def environment(directory: Path) -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if not name.startswith("BOUGH_")}
    return {**kept, "HOME": str(directory)}


def edit(directory: Path, work: Work, model: str = "m") -> Any:
    """Do something as an editor."""

    async def run() -> Any:
        editor = Editor()  # type: ignore[abstract]
        words = command(directory, model)
        async with acp.spawn_agent_process(
            editor, words[0], *words[1:], env=environment(directory), use_unstable_protocol=True
        ) as (agent, _):
            made = await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
            assert made.agent_capabilities is not None
            assert made.agent_capabilities.load_session
            return await work(agent, editor)

    return asyncio.run(asyncio.wait_for(run(), 60))


def test_a_prompt_is_answered_in_updates_and_stored(tmp_path: Path) -> None:
    async def work(agent: Any, editor: Editor) -> str:
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        done = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("hi")])
        assert done.stop_reason == "end_turn"
        assert (editor.words("agent_message_chunk"), editor.words("agent_thought_chunk")) == ("so", "hm")
        return str(session.session_id)

    key = edit(tmp_path, work, "thinks")
    with bough.connect(tmp_path / "s.db") as store:
        assert [node.message.text for node in store.session(key).path()] == ["hi", "so"]
        assert store.session(key).info.directory == str(tmp_path)


def test_a_session_of_another_program_is_listed_loaded_forked_and_resumed(tmp_path: Path) -> None:
    with bough.connect(tmp_path / "s.db") as store:
        session = store.session("claude-code:x", directory="/garden", title="Trees")
        ids = session.save_turn(["which tree?", "an oak"])
        session.save_turn(["and then?", "a beech"])

    async def work(agent: Any, editor: Editor) -> str:
        (shown,) = (await agent.list_sessions(cwd="/garden")).sessions
        assert (shown.session_id, shown.title, shown.cwd) == ("claude-code:x", "Trees", "/garden")
        await agent.load_session(cwd="/garden", session_id="claude-code:x", mcp_servers=[])
        assert editor.words("user_message_chunk") == "which tree?and then?"
        assert editor.words("agent_message_chunk") == "an oaka beech"
        before = len(editor.updates)
        await agent.resume_session(cwd="/garden", session_id="claude-code:x")
        assert len(editor.updates) == before
        fork = await agent.fork_session(session_id="claude-code:x", cwd="/garden", **{"bough/message": ids[1]})
        await agent.prompt(session_id=fork.session_id, prompt=[acp.text_block("which else?")])
        return str(fork.session_id)

    fork = edit(tmp_path, work)
    with bough.connect(tmp_path / "s.db") as store:
        assert [node.message.text for node in store.session(fork).path()] == [
            "which tree?",
            "an oak",
            "which else?",
            "two",
        ]
        assert len(store.session("claude-code:x").path()) == 4


def test_a_cancelled_prompt_keeps_what_came(tmp_path: Path) -> None:
    async def work(agent: Any, editor: Editor) -> str:
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        asked = asyncio.create_task(agent.prompt(session_id=session.session_id, prompt=[acp.text_block("go")]))
        await editor.came.wait()
        await agent.cancel(session_id=session.session_id)
        assert (await asked).stop_reason == "cancelled"
        return str(session.session_id)

    key = edit(tmp_path, work, "slow")
    with bough.connect(tmp_path / "s.db") as store:
        question, answer = store.session(key).path()
        assert question.message.text == "go"
        assert "a b c d e f g h i j".startswith(answer.message.text)


def test_errors_say_what_happened(tmp_path: Path) -> None:
    async def work(agent: Any, editor: Editor) -> None:
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
        with pytest.raises(acp.RequestError, match="too many"):
            await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("hi")])
        with pytest.raises(acp.RequestError, match="no session"):
            await agent.load_session(cwd="/", session_id="nope", mcp_servers=[])
        with pytest.raises(acp.RequestError, match="absolute"):
            await agent.new_session(cwd="here", mcp_servers=[])

    edit(tmp_path, work, "broken")


def test_an_editor_may_give_mcp_servers(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "bough", "--db", str(tmp_path / "s.db"), "mcp", "history"]
    (tmp_path / "m.script").write_text("")

    async def work(agent: Any, editor: Editor) -> None:
        server = McpServerStdio(name="history", command=words[0], args=words[1:], env=[])
        session = await agent.new_session(cwd=str(tmp_path), mcp_servers=[server])
        await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("look")])
        kinds = [one["sessionUpdate"] for one in editor.updates]
        assert kinds.count("tool_call") == kinds.count("tool_call_update") == 1
        assert editor.words("agent_message_chunk") == "found"

    SCRIPTS["calls"] = [
        '{"blocks": [{"type": "tool_call", "name": "history__sessions", "arguments": {}}]}', "found"]  # fmt: skip
    edit(tmp_path, work, "calls")


def test_lines_that_are_no_requests_are_errors_and_the_end_of_input_ends_it(tmp_path: Path) -> None:
    lines = ["nonsense", "[]", '{"jsonrpc": "2.0", "id": 1, "method": "nope"}',
             '{"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {}}']  # fmt: skip
    done = subprocess.run(command(tmp_path), check=False, input="\n".join(lines) + "\n", capture_output=True,
                          text=True, timeout=60, env=environment(tmp_path))  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, sorted(one["error"]["code"] for one in answers)) == (0, [-32700, -32602, -32601, -32600])
