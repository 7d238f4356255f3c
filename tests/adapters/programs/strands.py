"""Strands Agents, with its OpenAI model."""

from __future__ import annotations

from strands import Agent, tool
from strands.models.openai import OpenAIModel

from bough.adapters.strands import BoughSessionManager
from tests.adapters.programs import look


def ask(where: str, url: str, key: str, question: str) -> str:
    model = OpenAIModel(client_args={"base_url": url, "api_key": "none", "max_retries": 0}, model_id="gpt-5-mini")
    manager = BoughSessionManager(key, where)
    agent = Agent(model, tools=[tool(look)], session_manager=manager, callback_handler=None)
    answer = str(agent(question)).strip()
    manager.close()
    return answer
