"""OpenAI Agents SDK, with its Responses model."""

from __future__ import annotations

import asyncio

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from bough.adapters.openai_agents import BoughSession
from tests.adapters.programs import look


def ask(where: str, url: str, key: str, question: str) -> str:
    set_tracing_disabled(True)

    async def run() -> str:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            model = OpenAIResponsesModel("gpt-5-mini", client)
            agent = Agent("sailor", instructions="Look.", model=model, tools=[function_tool(look)])
            async with BoughSession(key, where) as session:
                result = await Runner.run(agent, question, session=session, hooks=session.hooks)
                return str(result.final_output)

    return asyncio.run(run())
