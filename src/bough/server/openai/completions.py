"""`/v1/chat/completions`: in front of any provider; those with `store` are kept, listed and found again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bough import formats
from bough.errors import FormatError, NotFound
from bough.server.access.gate import require_run
from bough.server.context import context_of, store_of
from bough.server.json_text import JsonAnswer
from bough.server.openai import options
from bough.server.openai.chat_events import ChatWriter
from bough.server.openai.ids import mint
from bough.server.openai.pages import listing, page_of, page_request
from bough.server.openai.parameters import check_metadata, check_types, read_body
from bough.server.openai.refusals import invalid, not_found
from bough.server.openai.relay import Relay, asking
from bough.server.recording import record, spoken
from bough.server.streams import answer

if TYPE_CHECKING:
    from bough.model import Json, Message
    from bough.server.openai.pages import PageRequest
    from bough.store import Store

FORMAT = "openai.chat"
KIND = "openai.completion"
"""The kind of the external names of stored completions, which sort by time."""
PREFIX = "openai"
DOCUMENT = "completion:"
"""The beginning of the names of the documents with what only a completion has: its metadata, its usage."""
BATCH = 100
ECHOED = {"temperature", "top_p", "tools", "tool_choice", "response_format", "seed", "presence_penalty",
          "frequency_penalty"}  # fmt: skip
"""Parameters that a stored completion repeats."""


async def create(request: Request) -> Response:
    """Answer a dialog, whole or as a stream; with `store`, what is new in it is kept."""
    require_run(request)
    context, store = context_of(request), store_of(request)
    body = await read_body(request)
    check_types(body)
    check_metadata(body.get("metadata"))
    whole, messages = dialog(body)
    provider = await asyncio.to_thread(context.models.find, body.get("model"))
    instructions = "\n\n".join(message.text for message in whole[: len(whole) - len(messages)]) or None
    ask = await asyncio.to_thread(asking, provider, FORMAT, body, instructions, messages, options.from_chat)
    id, stored = mint("chatcmpl"), body.get("store") is True
    model = str(body.get("model") or provider.model)
    if stored:
        await store.call(record, PREFIX, messages)

    def keep(reply: dict[str, Json], details: dict[str, Any]) -> None:
        context.metrics.count_tokens(model, relay.usage)
        if stored:
            save(store.sync, id, messages, reply, writer, body, relay, details)

    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    writer = ChatWriter(id, model, with_usage=with_usage, renames=stored)
    relay = Relay(writer, provider, ask, keep)
    relay.start()
    return await answer(request, relay, streams=body.get("stream") is True)


def dialog(body: dict[str, Json]) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The messages of a request, and those after the instructions. Raises `HttpProblem`."""
    if not isinstance(body.get("messages"), list) or not body["messages"]:
        raise invalid("messages", "messages is a list of at least one message.")
    try:
        whole = formats.get(FORMAT).decode(body["messages"]).messages
        return whole, spoken(FORMAT, body["messages"])
    except FormatError as error:
        raise invalid("messages", f"{error} Nothing was done.") from None


def save(
    store: Store, id: str, messages: tuple[Message, ...], reply: dict[str, Json], writer: ChatWriter,
    body: dict[str, Json], relay: Relay, details: dict[str, Any],
) -> None:  # fmt: skip
    """Store a completion: its reply in the session of its dialog, the rest in a document of that session."""
    session = record(store, PREFIX, messages, reply, external_name=(KIND, id), **details)
    if session is None:
        return
    shown = writer.shown(reply, relay.usage)
    first, *others = shown.get("choices") or [{}]
    rest = {**shown, "choices": [{**first, "message": None}, *others]}
    kept = {key: one for key, one in body.items() if key in ECHOED}
    document: dict[str, Json] = {
        **rest,
        **kept,
        "metadata": body.get("metadata") or {},
        "inputs": len(body["messages"]),
    }
    session.put_document(f"{DOCUMENT}{id}", document)


def find(store: Store, id: str) -> dict[str, Json]:
    """A stored completion. Raises `HttpProblem`."""
    message = store.find_external(KIND, id)
    if message is None:
        raise not_found("Chat completion", id)
    return completion(store, id, message)


def completion(store: Store, id: str, message: str) -> dict[str, Json]:
    """The completion object of a reply."""
    (node,) = store.get_messages([message])
    encoded = formats.get(FORMAT).encode([node.message]).payload
    made = {"role": "assistant", "content": None, "refusal": None, **(encoded[0] if encoded else {})}
    document = document_of(store, id, message)
    first, *others = document.get("choices") or [{"index": 0, "finish_reason": "stop"}]
    shown = {key: one for key, one in document.items() if key not in ("inputs", "metadata")}
    return {
        **shown, "id": id, "object": "chat.completion", "choices": [{**first, "message": made}, *others],
        "metadata": document.get("metadata") or {}, "request_id": None,
    }  # fmt: skip


def session_key(store: Store, message: str) -> str:
    """The session in which a completion was kept."""
    return f"{PREFIX}:{store.path(message)[0].id}"


def document_of(store: Store, id: str, message: str) -> dict[str, Any]:
    """What is stored of a completion beside its reply; empty if its session was deleted."""
    try:
        value = store.session(session_key(store, message)).document(f"{DOCUMENT}{id}").value
    except NotFound:
        return {}
    return value if isinstance(value, dict) else {}


async def list_completions(request: Request) -> Response:
    """The stored completions, page by page, those of a model or with some metadata only."""
    asked = page_request(request, descending=False)
    query = request.query_params
    metadata = {key[9:-1]: text for key, text in query.items() if key.startswith("metadata[") and key.endswith("]")}
    found, more = await store_of(request).call(matching, asked, query.get("model"), metadata)
    return JsonAnswer(listing(found, has_more=more))


def matching(
    store: Store, asked: PageRequest, model: str | None, metadata: dict[str, str]
) -> tuple[list[dict[str, Json]], bool]:
    """The completions of a page, and whether there are more."""
    found: list[dict[str, Json]] = []
    after = asked.after
    while names := store.names(KIND, after=after, limit=BATCH, descending=asked.descending):
        for name in names:
            after = name.value
            one = None if name.message_id is None else completion(store, name.value, name.message_id)
            if one is None or (model is not None and one.get("model") != model):
                continue
            if metadata.items() <= one["metadata"].items():
                found.append(one)
            if len(found) > asked.limit:
                return found[: asked.limit], True
    return found, False


async def retrieve(request: Request) -> Response:
    """A stored completion."""
    return JsonAnswer(await store_of(request).call(find, request.path_params["id"]))


async def update(request: Request) -> Response:
    """Replace the metadata of a stored completion."""
    id, body = request.path_params["id"], await read_body(request)
    if "metadata" not in body:
        raise invalid("metadata", "metadata is missing; nothing was changed.", "missing-required-parameter")
    check_metadata(body["metadata"])

    def work(store: Store) -> dict[str, Json]:
        message = store.find_external(KIND, id)
        if message is None:
            raise not_found("Chat completion", id)
        session = store.session(session_key(store, message))
        document = {**document_of(store, id, message), "metadata": body["metadata"] or {}}
        session.put_document(f"{DOCUMENT}{id}", document)
        return completion(store, id, message)

    return JsonAnswer(await store_of(request).call(work))


async def delete(request: Request) -> Response:
    """Forget a completion. Its dialog stays in its session."""
    id = request.path_params["id"]

    def work(store: Store) -> None:
        message = store.find_external(KIND, id)
        if message is None:
            raise not_found("Chat completion", id)
        store.forget_name(KIND, id)
        store.session(session_key(store, message)).delete_document(f"{DOCUMENT}{id}")

    await store_of(request).call(work)
    return JsonAnswer({"id": id, "object": "chat.completion.deleted", "deleted": True})


async def messages(request: Request) -> Response:
    """The messages that a completion answers, page by page."""
    id, asked = request.path_params["id"], page_request(request, descending=False)

    def work(store: Store) -> list[dict[str, Json]]:
        message = store.find_external(KIND, id)
        if message is None:
            raise not_found("Chat completion", id)
        nodes = store.path(message)[:-1]
        return [item for node in nodes for item in stored_messages(node.message, f"{id}-{node.id}")]

    return JsonAnswer(page_of(await store_of(request).call(work), asked))


def stored_messages(message: Message, id: str) -> list[dict[str, Json]]:
    """The wire messages of a message, each with an id; the parts of a content are in a field of their own."""
    made = []
    for place, wire in enumerate(formats.get(FORMAT).encode([message]).payload):
        parts = wire.get("content") if isinstance(wire.get("content"), list) else None
        text = wire.get("content") if parts is None else None
        made.append({**wire, "content": text, "content_parts": parts, "id": f"{id}-{place}", "name": wire.get("name")})
    return made


routes = [
    Route("/v1/chat/completions", create, methods=["POST"]),
    Route("/v1/chat/completions", list_completions, methods=["GET"]),
    Route("/v1/chat/completions/{id}", retrieve, methods=["GET"]),
    Route("/v1/chat/completions/{id}", update, methods=["POST"]),
    Route("/v1/chat/completions/{id}", delete, methods=["DELETE"]),
    Route("/v1/chat/completions/{id}/messages", messages, methods=["GET"]),
]
