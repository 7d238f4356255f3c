"""LiteLLM: a loop of calls that the callback records; the dialog is read from the store."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import litellm

from bough.adapters.litellm import BoughLogger
from tests.adapters.programs import look

TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def ask(where: str, url: str, key: str, question: str) -> str:
    logger = BoughLogger(where)
    litellm.callbacks = [logger]
    about: dict[str, Any] = {"api_base": url, "api_key": "none", "max_retries": 0, "metadata": {"session_id": key}}

    async def run() -> str:
        dialog = list(logger.store.session(key).context("openai.chat").payload)
        dialog.append({"role": "user", "content": question})
        while True:
            before = logger.store.session(key).head
            reply = await litellm.acompletion("openai/gpt-5-mini", dialog, tools=[TOOL], **about)
            while logger.store.session(key).head == before:  # callbacks run after the reply was given
                await asyncio.sleep(0.01)
            said = reply.choices[0].message
            dialog.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return str(said.content)
            for call in said.tool_calls:
                result = look(**json.loads(call.function.arguments))
                dialog.append({"role": "tool", "tool_call_id": call.id, "content": result})

    try:
        return asyncio.run(run())
    finally:
        litellm.logging_callback_manager.remove_callback_from_all_lists(logger)
        logger.close()
