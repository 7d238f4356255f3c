"""`/v1/messages`: Anthropic's API in front of any provider. Every dialog is kept."""

from __future__ import annotations

import asyncio
from types import NoneType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bough.context.fit import fit
from bough.errors import FormatError
from bough.model.tokens import estimate_text
from bough.server.access.gate import require_run
from bough.server.anthropic.events import MessageWriter
from bough.server.context import context_of, store_of
from bough.server.json_text import JsonAnswer
from bough.server.openai import options
from bough.server.openai.ids import mint
from bough.server.openai.parameters import check_types, read_body
from bough.server.openai.refusals import invalid
from bough.server.openai.relay import Relay, asking
from bough.server.openai.upstream import as_node
from bough.server.recording import record, spoken
from bough.server.streams import answer

if TYPE_CHECKING:
    from bough.model import Json, Message

FORMAT = "anthropic"


async def create(request: Request) -> Response:
    """Answer a dialog, whole or as a stream, and keep what is new in it."""
    require_run(request)
    context, store = context_of(request), store_of(request)
    body = await read_body(request)
    messages = dialog(body)
    provider = await asyncio.to_thread(context.models.find, body.get("model"))
    ask = await asyncio.to_thread(
        asking, provider, FORMAT, body, system_text(body.get("system")), messages, options.from_anthropic
    )
    await store.call(record, FORMAT, messages)

    def keep(reply: dict[str, Json], details: dict[str, Any]) -> None:
        record(store.sync, FORMAT, messages, reply, **details)
        context.metrics.count_tokens(str(body.get("model") or ""), relay.usage)

    relay = Relay(MessageWriter(mint("msg"), str(body.get("model") or provider.model)), provider, ask, keep)
    relay.start()
    return await answer(request, relay, streams=body.get("stream") is True)


async def count_tokens(request: Request) -> Response:
    """The tokens of a request, estimated as bough estimates them everywhere."""
    body = await read_body(request)
    nodes = [as_node(message, place) for place, message in enumerate(dialog(body))]
    rest = str(body.get("system") or "") + str(body.get("tools") or "")
    return JsonAnswer({"input_tokens": fit(nodes, FORMAT).tokens + estimate_text(rest)})


def dialog(body: dict[str, Json]) -> tuple[Message, ...]:
    """The messages of a request. Raises `HttpProblem`."""
    check_types({key: one for key, one in body.items() if key != "tool_choice"})
    if not isinstance(body.get("tool_choice"), (dict, NoneType)):
        raise invalid("tool_choice", "tool_choice is an object.")
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise invalid("messages", "messages is a list of at least one message.")
    try:
        return spoken(FORMAT, body["messages"])
    except FormatError as error:
        raise invalid("messages", f"{error} Nothing was done.") from None


def system_text(system: Json) -> str | None:
    """The system prompt as one text."""
    if isinstance(system, list):
        return "\n\n".join(str(block.get("text") or "") for block in system if isinstance(block, dict)) or None
    return system or None


routes = [
    Route("/v1/messages", create, methods=["POST"]),
    Route("/v1/messages/count_tokens", count_tokens, methods=["POST"]),
]
