"""`bough mcp agent` in a real process, with the official client and with the loop."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

import bough
from bough import Session, Store, tool_call
from bough.agent import Agent, run
from bough.agent.mcp import Server, Servers
from bough.agent.mcp.agent_server import session_of
from bough.agent.mcp.call_meta import Caller, decode_caller
from tests.agent.fake_provider import FakeProvider, FakeReply

ENVIRONMENT = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}


@pytest.fixture
def configured(tmp_path: Path) -> Path:
    """A configuration with an agent that answers out of a file."""
    (tmp_path / "script").write_text("Three oaks.\nFour elms.\n", "utf-8")
    (tmp_path / "lost").write_text('{"error": "down", "message": "Nobody is there."}\n', "utf-8")
    (tmp_path / "slow").write_text('{"blocks": [{"type": "text", "text": "one two three"}], "delay": 60}\n', "utf-8")
    file = tmp_path / "config.toml"
    file.write_text(
        f"""
[agents.scout]
model = "scripted:{tmp_path / "script"}"
description = "Looks around."
system = "Look."
[agents.lost]
model = "scripted:{tmp_path / "lost"}"
[agents.slow]
model = "scripted:{tmp_path / "slow"}"
""",
        "utf-8",
    )
    return file


def command(configured: Path, place: Path, agent: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "bough", "--db", str(place), "--config", str(configured), "mcp", "agent", agent)


def talk(
    configured: Path,
    place: Path,
    conversation: Callable[[Client], Awaitable[Any]],
    agent: str = "scout",
) -> Any:
    """Lets the official client talk to an agent in a process of its own."""
    program, *words = command(configured, place, agent)
    parameters = StdioServerParameters(command=program, args=words, env=ENVIRONMENT)

    async def main() -> Any:
        with open(os.devnull, "w") as nowhere:
            async with Client(stdio_client(parameters, errlog=nowhere)) as client:
                return await conversation(client)

    return asyncio.run(main())


def text(result: CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextContent))


def test_the_official_client_sees_one_tool_and_each_call_has_its_own_session(configured: Path, place: Path) -> None:
    async def conversation(client: Client) -> tuple[Any, list[CallToolResult]]:
        tools = (await client.list_tools()).tools
        return tools, [await client.call_tool("scout", {"task": f"Look {where}."}) for where in ("left", "right")]

    (tool,), results = talk(configured, place, conversation)
    assert (tool.name, tool.description) == ("scout", "Looks around.")
    assert tool.input_schema["required"] == ["task"]
    assert [text(result) for result in results] == ["Three oaks.", "Three oaks."]  # neither knows of the other
    with bough.connect(place) as store:
        infos = store.sessions()
        assert len(infos) == 2
        for info, result in zip(reversed(infos), results, strict=True):
            path = store.session(info.key).path()
            assert info.key.startswith("subagent:scout:")
            assert {node.label for node in path} == {info.key}
            assert info.agent == "scout"
            assert result.meta is not None
            assert (result.meta["bough/session"], result.meta["bough/turn"]) == (info.key, path[0].id)
        assert store.sessions(delegates=False) == []


def test_a_session_is_linked_to_the_caller_in_the_metadata(configured: Path, place: Path) -> None:
    with bough.connect(place) as store:
        asked, _ = store.session("cli:default").save_turn([bough.user("q"), bough.assistant("a")])
    told: Any = {"bough/session": "cli:default", "bough/message": asked, "bough/call": "c9"}
    talk(configured, place, lambda client: client.call_tool("scout", {"task": "Look."}, meta=told))
    with bough.connect(place) as store:
        (info,) = store.sessions(parent="cli:default")
        assert info.key.startswith("cli:default:delegate:scout:")
        turn = store.turn_info(store.session(info.key).path()[0].id)
        assert (turn.caller_id, turn.caller_call) == (asked, "c9")


def test_the_caller_may_be_given_in_the_environment() -> None:
    said = {"BOUGH_SESSION": "cli:default", "BOUGH_MESSAGE": "", "BOUGH_CALL": "c7"}
    assert decode_caller(None, said) == Caller("cli:default", None, "c7")
    assert decode_caller({"bough/session": "cli:other", "bough/call": 9}, said) == Caller("cli:other", None, None)
    assert decode_caller({"progressToken": 1}, {}) == Caller()


def test_a_caller_without_a_session_in_this_store_is_not_linked(store: Store) -> None:
    scout = Agent(FakeProvider("Seen."), name="scout")
    assert session_of(scout, store, Caller("cli:elsewhere", "abcdef", "c1")).key.startswith("subagent:scout:")
    assert store.find_session("cli:elsewhere") is None


def test_every_error_of_a_run_is_a_tool_error(configured: Path, place: Path) -> None:
    async def conversation(client: Client) -> list[CallToolResult]:
        return [
            await client.call_tool("lost", {"task": "Look."}),
            await client.call_tool("lost", {}),
            await client.call_tool("other", {"task": "Look."}),
        ]

    down, empty, other = talk(configured, place, conversation, "lost")
    assert [result.is_error for result in (down, empty, other)] == [True, True, True]
    assert text(down) == "Nobody is there."
    assert "A task in words" in text(empty)
    assert "There is no tool 'other'" in text(other)
    with bough.connect(place) as store:
        (turn,) = store.turns()
        assert (turn.status, turn.error) == ("failed", "ProviderError: Nobody is there.")


def test_a_cancelled_call_is_stopped_and_its_turn_stored(configured: Path, place: Path) -> None:
    async def conversation(client: Client) -> None:
        calling = asyncio.ensure_future(client.call_tool("slow", {"task": "Count."}))
        with bough.connect(place) as store:
            while not store.turns():
                await asyncio.sleep(0.02)
            calling.cancel()
            while store.turns()[0].status == "running":
                await asyncio.sleep(0.02)

    talk(configured, place, conversation, "slow")
    with bough.connect(place) as store:
        (turn,) = store.turns()
        assert (turn.status, turn.error) == ("interrupted", "Stopped before the reply was complete.")


def test_the_loop_sends_the_caller_to_bough_servers(configured: Path, place: Path, session: Session) -> None:
    server = Server("helper", command(configured, place, "scout"), ENVIRONMENT)
    provider = FakeProvider(FakeReply("", (tool_call("c1", "helper__scout", {"task": "Look."}),)), "Three.")
    with Servers([server]) as servers:
        done = run(Agent(provider, tools=[servers]), session, "How many oaks?")
    assert done.text == "Three."
    calling, answered = session.path()[1:3]
    assert answered.message.results[0].text == "Three oaks."
    (info,) = session.store.sessions(parent=session.key)
    turn = session.store.turns(info.key)[0]
    assert (info.parent_message_id, turn.caller_id, turn.caller_call) == (calling.id, calling.id, "c1")
    assert answered.message.results[0].extra["mcp"]["_meta"]["bough/session"] == info.key


def test_the_error_for_an_unconfigured_agent_names_it(configured: Path, place: Path) -> None:
    done = subprocess.run(
        command(configured, place, "nobody"), capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )
    assert (done.returncode, done.stdout) == (10, "")
    assert "nobody" in done.stderr
    assert "Traceback" not in done.stderr
