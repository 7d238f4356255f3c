"""Pydantic AI, with its OpenAI model."""

from __future__ import annotations

import asyncio

from openai import AsyncOpenAI
from pydantic_ai import Agent, Conversation
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from bough.adapters.pydantic_ai import BoughConversationStore
from tests.adapters.programs import look


def ask(where: str, url: str, key: str, question: str) -> str:
    async def run() -> str:
        async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
            model = OpenAIChatModel("gpt-5-mini", provider=OpenAIProvider(openai_client=client))
            agent = Agent(model, tools=[look])
            async with BoughConversationStore(where) as store:
                conversation = await store.load(key) or Conversation(conversation_id=key)
                result = await agent.run(question, conversation=conversation)
                await store.save(result)
                return str(result.output)

    return asyncio.run(run())
