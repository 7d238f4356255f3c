"""`/v1/responses`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bough.server.access.gate import require_run
from bough.server.context import context_of, store_of
from bough.server.json_text import JsonAnswer
from bough.server.openai import begin, resource, upstream
from bough.server.openai.compaction import compact, count_input
from bough.server.openai.events import frame
from bough.server.openai.generation import Generation, unpacked
from bough.server.openai.ids import mint
from bough.server.openai.items import items_of
from bough.server.openai.pages import page_of, page_request
from bough.server.openai.parameters import ResponseRequest, flag, listed, number, read_body, response_request
from bough.server.openai.refusals import invalid, not_found
from bough.server.running import CANCEL, ended_with_client
from bough.server.streams import STREAM, disconnected

if TYPE_CHECKING:
    from bough.model import Json
    from bough.providers.types import Answer, Provider
    from bough.server.openai.resource import StoredResponse
    from bough.server.stores import ServedStore
    from bough.store import Store
    from bough.turn import Turn

POLL = 0.3
"""Seconds between two looks at a response that another process writes."""
PATIENCE = 10.0
"""Seconds that a cancellation waits for the process that writes."""


async def create(request: Request) -> Response:
    """Create a response: whole, as a stream, or in the background."""
    require_run(request)
    context, store = context_of(request), store_of(request)
    asked = response_request(await read_body(request))
    provider = await asyncio.to_thread(context.models.find, asked.model)
    record = resource.new_record(mint("resp"), asked, int(time.time()), asked.model or context.models.spec(None))
    turn, ask = await store.call(prepared, asked, record, provider)
    generation = Generation(asked, record, provider, turn, ask)
    context.responses.add(store, generation, context)
    if asked.background and not asked.streams:
        return JsonAnswer(generation.resource("queued"))
    if not asked.streams:
        return JsonAnswer(await result(request, generation))
    if not asked.background:  # an error of the provider is that of the request, as long as nothing was sent
        await accepted(request, generation)
    return StreamingResponse(streamed(generation, 0), headers=STREAM, media_type="text/event-stream")


def prepared(
    store: Store, asked: ResponseRequest, record: dict[str, Any], provider: Provider
) -> tuple[Turn | None, Callable[[], Answer]]:
    """The open turn of a response, and a function that asks the provider. Raises `HttpProblem`."""
    if not asked.stored:
        messages = begin.dialog(store, asked)
        context = upstream.context_of_messages(messages, provider, asked)
        return None, partial(upstream.ask, provider, asked, context)
    upstream.options_for(provider.format, asked.body)  # before anything is stored
    turn = begin.open_turn(store, asked, record, provider.model)

    def ask() -> Answer:
        return upstream.ask(provider, asked, upstream.context_of_turn(turn, provider, asked))

    return turn, ask


async def accepted(request: Request, generation: Generation) -> None:
    """Wait until the provider has accepted the request. Raises its error."""
    try:
        await disconnected(request, generation.accepted)
    except BaseException:
        generation.end("interrupted")
        raise


async def result(request: Request, generation: Generation) -> dict[str, Json]:
    """The whole response; the error of a provider that refused it is that of the request."""
    async with ended_with_client(generation):
        await disconnected(request, generation.accepted)
        return await disconnected(request, generation.finished)


async def streamed(generation: Generation, start: int) -> AsyncIterator[bytes]:
    """The events from a place on. A client that goes away ends a response that is not in the background."""
    async with ended_with_client(generation):
        async for frames in generation.log.follow(start):
            yield frames


async def find(store: ServedStore, id: str) -> StoredResponse:
    """A stored response. Raises `HttpProblem`."""
    found = await store.call(resource.find, id)
    if found is None:
        raise not_found("Response", id)
    return found


async def retrieve(request: Request) -> Response:
    """A stored response, or its events."""
    store, id = store_of(request), request.path_params["id"]
    found = await find(store, id)
    include = listed(request, "include")
    if not flag(request, "stream"):
        return JsonAnswer(await store.call(resource.stored_resource, found, include))
    after = number(request, "starting_after", -1, 0, 2**40)
    generation = context_of(request).responses.find(store, id)
    events = replayed(store, found, after) if generation is None else streamed(generation, after + 1)
    return StreamingResponse(events, headers=STREAM, media_type="text/event-stream")


async def replayed(store: ServedStore, found: StoredResponse, after: int) -> AsyncIterator[bytes]:
    """The events of a response that was written before, or that another process is writing."""
    while found.is_running:
        yield b": waiting\n\n"
        await asyncio.sleep(POLL)
        found = await find(store, found.id)
    for event in await store.call(stored_events, found, after):
        yield frame(event)


def stored_events(store: Store, found: StoredResponse, after: int) -> list[dict[str, Json]]:
    """The events after a number: those that were sent, or, if they were not kept, the first and the last ones."""
    metadata: Any = found.turn.metadata
    if packed := metadata.get(resource.EVENTS):
        return [event for event in unpacked(packed) if event["sequence_number"] > after]
    made = resource.stored_resource(store, found)
    last = {"type": f"response.{made['status']}", "response": made}
    if after >= 0:
        return [{**last, "sequence_number": after + 1}]
    items = [event for place, item in enumerate(made["output"]) for event in (
        {"type": "response.output_item.added", "output_index": place, "item": item},
        {"type": "response.output_item.done", "output_index": place, "item": item},
    )]  # fmt: skip
    first = {"type": "response.created", "response": {**made, "status": "in_progress", "output": []}}
    return [{**event, "sequence_number": place} for place, event in enumerate([first, *items, last])]


async def cancel(request: Request) -> Response:
    """End a response in the background. One that has ended stays as it is."""
    context, store, id = context_of(request), store_of(request), request.path_params["id"]
    found = await find(store, id)
    if not found.record.get("echo", {}).get("background"):
        raise invalid(None, "Only a response that was created with background=true can be cancelled.")
    generation = context.responses.find(store, id)
    if generation is not None:
        generation.end("cancelled")
        await asyncio.wait([generation.finished], timeout=PATIENCE)
    elif found.is_running:
        await store.annotate_turn(found.turn.id, {CANCEL: True})
        deadline = time.monotonic() + PATIENCE
        while (await find(store, id)).is_running and time.monotonic() < deadline:
            await asyncio.sleep(POLL)
    return JsonAnswer(await store.call(resource.stored_resource, await find(store, id)))


async def delete(request: Request) -> Response:
    """Forget a response. Its messages go to the trash, unless something else is built on them."""
    store, id = store_of(request), request.path_params["id"]
    found = await find(store, id)
    if (generation := context_of(request).responses.find(store, id)) is not None:
        generation.end("cancelled")
        await asyncio.wait([generation.finished], timeout=PATIENCE)
    await store.call(remove, found)
    return JsonAnswer({"id": id, "object": "response", "deleted": True})


def remove(store: Store, found: StoredResponse) -> None:
    """Forget the id of a response, and delete what only it has added."""
    store.forget_name(resource.KIND, found.id)
    key = found.turn.session
    turn = store.turn_info(found.turn.id)
    if key is None or key.startswith(begin.CONVERSATION) or store.children(turn.last_id):
        return
    store.delete_messages([found.turn.id], recursive=True)
    info = store.find_session(key)
    if info is not None and info.head_id is None and key == f"{begin.CHANNEL}:{found.id}":
        store.delete_session(key)


async def input_items(request: Request) -> Response:
    """The dialog that a response answers, page by page."""
    store, asked, include = store_of(request), page_request(request), listed(request, "include")
    found = await find(store, request.path_params["id"])
    items = await store.call(lambda store: items_of(resource.input_nodes(store, found), include))
    return JsonAnswer(page_of(items, asked))


routes = [
    Route("/v1/responses", create, methods=["POST"]),
    Route("/v1/responses/compact", compact, methods=["POST"]),
    Route("/v1/responses/input_tokens", count_input, methods=["POST"]),
    Route("/v1/responses/{id}", retrieve, methods=["GET"]),
    Route("/v1/responses/{id}", delete, methods=["DELETE"]),
    Route("/v1/responses/{id}/cancel", cancel, methods=["POST"]),
    Route("/v1/responses/{id}/input_items", input_items, methods=["GET"]),
]
