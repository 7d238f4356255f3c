"""LlamaIndex: a FunctionAgent whose memory is in a chat store."""

from __future__ import annotations

import asyncio

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai_like import OpenAILike

from bough.adapters.llama_index import BoughChatStore
from tests.adapters.programs import look


def ask(where: str, url: str, key: str, question: str) -> str:
    llm = OpenAILike(
        "gpt-5-mini", api_base=url, api_key="none", max_retries=0, is_chat_model=True, is_function_calling_model=True
    )
    chats = BoughChatStore(where)
    memory = ChatMemoryBuffer.from_defaults(chat_store=chats, chat_store_key=key, token_limit=10_000)
    agent = FunctionAgent(tools=[look], llm=llm, streaming=False)

    async def run() -> str:
        return str(await agent.run(user_msg=question, memory=memory))

    answer = asyncio.run(run())
    chats.close()
    return answer
