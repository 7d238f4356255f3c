"""`/v1/responses/compact` and `/v1/responses/input_tokens`."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from bough.agent.compaction import Summarizer
from bough.model import Json
from bough.model.tokens import estimate_text
from bough.server.access.gate import require_run
from bough.server.context import context_of, store_of
from bough.server.json_text import JsonAnswer
from bough.server.openai import begin
from bough.server.openai.ids import mint
from bough.server.openai.items import SEAL, items_of
from bough.server.openai.parameters import ResponseRequest, read_body, response_request
from bough.server.openai.resource import usage_of
from bough.server.openai.upstream import as_node, context_of_messages

if TYPE_CHECKING:
    from bough.model import Node
    from bough.providers.types import Provider
    from bough.store import Store


async def compact(request: Request) -> Response:
    """Sum up a dialog: the user's messages, and one item with the summary, which a later input may begin with."""
    require_run(request)
    context, store = context_of(request), store_of(request)
    asked = response_request({**await read_body(request), "store": False, "stream": False})
    provider = await asyncio.to_thread(context.models.find, asked.model)
    nodes = await store.call(dialog_nodes, asked)
    summary, usage = await asyncio.to_thread(summed_up, provider, nodes)
    kept = [item for item in items_of(nodes) if item["type"] == "message" and item.get("role") == "user"]
    item = {"id": mint("cmp"), "type": "compaction", "encrypted_content": sealed_summary(summary)}
    return JsonAnswer({
        "id": mint("resp"), "object": "response.compaction", "created_at": int(time.time()),
        "output": [*kept, item], "usage": usage,
    })  # fmt: skip


def dialog_nodes(store: Store, asked: ResponseRequest) -> list[Node]:
    """The dialog of a request that stores nothing, in places of its own."""
    return [as_node(message, place) for place, message in enumerate(begin.dialog(store, asked))]


def summed_up(provider: Provider, nodes: list[Node]) -> tuple[str, dict[str, Json]]:
    """A summary, and what it has cost. Raises `ProviderError`."""
    summarize = Summarizer(provider)
    text = summarize(nodes)
    return text, usage_of(summarize.spent) or {
        "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0,
    }  # fmt: skip


def sealed_summary(text: str) -> str:
    return SEAL + base64.b64encode(json.dumps({"summary": text}).encode()).decode()


async def count_input(request: Request) -> Response:
    """The tokens of an input, estimated as bough estimates them everywhere."""
    context, store = context_of(request), store_of(request)
    asked = response_request({**await read_body(request), "store": False})
    provider = await asyncio.to_thread(context.models.find, asked.model)
    messages = await store.call(begin.dialog, asked)
    tokens = context_of_messages(messages, provider, asked).tokens + estimate_text(asked.instructions or "")
    if tools := asked.body.get("tools"):
        tokens += estimate_text(json.dumps(tools))
    return JsonAnswer({"object": "response.input_tokens", "input_tokens": tokens})
