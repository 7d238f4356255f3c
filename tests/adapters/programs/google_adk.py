"""Google ADK: its Runner, with its Gemini model."""

from __future__ import annotations

import asyncio

from google.adk.agents import LlmAgent
from google.adk.models import Gemini
from google.adk.runners import Runner
from google.genai import Client, types

from bough.adapters.google_adk import BoughSessionService
from tests.adapters.programs import look

APP, USER = "harbour", "sailor"


def key(id: str) -> str:
    """The key of the session of bough that a session is."""
    return f"google-adk:{APP}:{USER}:{id}"


def ask(where: str, url: str, key: str, question: str) -> str:
    async def run() -> str:
        client = Client(api_key="none", http_options=types.HttpOptions(base_url=url))
        agent = LlmAgent(name="sailor", model=Gemini(model="gemini-2.5-flash", client=client), tools=[look])
        service = BoughSessionService(where)
        runner = Runner(app_name=APP, agent=agent, session_service=service, auto_create_session=True)
        message, answer = types.UserContent(question), ""
        async for event in runner.run_async(user_id=USER, session_id=key, new_message=message):
            if event.is_final_response():
                answer = "".join(part.text or "" for part in event.content.parts)
        await service.close()
        return answer

    return asyncio.run(run())
