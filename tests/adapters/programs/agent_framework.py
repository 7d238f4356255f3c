"""Microsoft Agent Framework, with its client of Chat Completions."""

from __future__ import annotations

import asyncio

from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient
from openai import AsyncOpenAI

from bough.adapters.agent_framework import BoughHistoryProvider
from tests.adapters.programs import look


def ask(where: str, url: str, key: str, question: str) -> str:
    async def run() -> str:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as openai:
            history = BoughHistoryProvider(where)
            client = OpenAIChatCompletionClient("gpt-5-mini", async_client=openai)
            agent = Agent(client, "Look.", tools=[look], context_providers=[history])
            result = await agent.run(question, session=AgentSession(session_id=key))
            history.close()
            return str(result.text)

    return asyncio.run(run())
