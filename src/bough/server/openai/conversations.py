"""`/v1/conversations`: sessions, whose dialog is a list of items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bough.errors import Busy
from bough.model.values import replace
from bough.server.context import store_of
from bough.server.json_text import JsonAnswer
from bough.server.openai import begin
from bough.server.openai.ids import mint
from bough.server.openai.items import items_of, message_items
from bough.server.openai.pages import listing, page_of, page_request
from bough.server.openai.parameters import check_metadata, input_items, listed, messages_of, read_body
from bough.server.openai.refusals import invalid, locked, not_found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bough.model import Json, Message, SessionInfo
    from bough.store import Store

MOST_ITEMS = 20
"""Items that can be added at once."""


def resource(id: str, info: SessionInfo) -> dict[str, Json]:
    """The conversation object."""
    extra = info.extra if isinstance(info.extra, dict) else {}
    metadata = extra.get("metadata") or {}
    return {"id": id, "object": "conversation", "created_at": info.created_at // 1_000_000, "metadata": metadata}


async def create(request: Request) -> Response:
    """Create a conversation, with its first items."""
    body = await read_body(request)
    check_metadata(body.get("metadata"))
    messages = new_messages(body, required=False)
    id = mint("conv")
    return JsonAnswer(await store_of(request).call(made, id, messages, body.get("metadata") or {}))


def made(store: Store, id: str, messages: Sequence[Message], metadata: dict[str, Json]) -> dict[str, Json]:
    """A new conversation."""
    session = store.session(begin.conversation_key(id), extra={"metadata": metadata})
    session.append(messages)
    return resource(id, session.info)


def new_messages(body: dict[str, Json], *, required: bool = True) -> tuple[Message, ...]:
    """The items to add, as messages. Raises `HttpProblem`."""
    if isinstance(body.get("items"), str):
        raise invalid("items", "items is a list of items.", "invalid-type")
    items = input_items(body.get("items"), "items")
    if required and not items:
        raise invalid("items", "items is missing: there is nothing to add.", "missing-required-parameter")
    if len(items) > MOST_ITEMS:
        raise invalid("items", f"At most {MOST_ITEMS} items can be added at once, not {len(items)}; none was added.")
    return messages_of(items, "items")


async def retrieve(request: Request) -> Response:
    """A conversation."""
    id = request.path_params["id"]
    info = await store_of(request).find_session(begin.conversation_key(id))
    if info is None:
        raise not_found("Conversation", id)
    return JsonAnswer(resource(id, info))


async def update(request: Request) -> Response:
    """Replace the metadata of a conversation."""
    id, body = request.path_params["id"], await read_body(request)
    if "metadata" not in body:
        raise invalid("metadata", "metadata is missing; nothing was changed.", "missing-required-parameter")
    check_metadata(body["metadata"])

    def work(store: Store) -> dict[str, Json]:
        session = begin.conversation(store, id)
        extra = session.info.extra if isinstance(session.info.extra, dict) else {}
        session.update(extra={**extra, "metadata": body["metadata"] or {}})
        return resource(id, session.info)

    return JsonAnswer(await store_of(request).call(work))


async def delete(request: Request) -> Response:
    """Put a conversation in the trash. What another session reaches of it stays."""
    id = request.path_params["id"]

    def work(store: Store) -> None:
        session = begin.conversation(store, id)
        try:
            store.delete_session(session.key)
        except Busy:
            raise locked() from None

    await store_of(request).call(work)
    return JsonAnswer({"id": id, "object": "conversation.deleted", "deleted": True})


async def add_items(request: Request) -> Response:
    """Add items to the end of a conversation."""
    id, include = request.path_params["id"], listed(request, "include")
    messages = new_messages(await read_body(request))

    def work(store: Store) -> dict[str, Json]:
        session = begin.conversation(store, id)
        try:
            ids = session.append(messages, wait=0)
        except Busy:
            raise locked() from None
        added = [item for message, node in zip(messages, ids, strict=True)
                 for item in message_items(message, node, include)]  # fmt: skip
        return listing(added)

    return JsonAnswer(await store_of(request).call(work))


async def list_items(request: Request) -> Response:
    """The items of a conversation, page by page."""
    id, asked, include = request.path_params["id"], page_request(request), listed(request, "include")

    def work(store: Store) -> dict[str, Json]:
        session = begin.conversation(store, id)
        # The newest page needs the end of the path only: nearly every message has an item at least.
        last = asked.limit + 1 if asked.descending and asked.after is None else None
        items = items_of(session.path(last), include)
        if last is not None and len(items) <= asked.limit:
            items = items_of(session.path(), include)
        return page_of(items, asked)

    return JsonAnswer(await store_of(request).call(work))


async def retrieve_item(request: Request) -> Response:
    """One item of a conversation."""
    id, item_id, include = request.path_params["id"], request.path_params["item"], listed(request, "include")

    def work(store: Store) -> dict[str, Json]:
        found = next((item for item in items_of(begin.conversation(store, id).path(), include)
                      if item["id"] == item_id), None)  # fmt: skip
        if found is None:
            raise not_found("Item", item_id)
        return found

    return JsonAnswer(await store_of(request).call(work))


async def delete_item(request: Request) -> Response:
    """Take an item out of a conversation. The dialog with it stays, as a branch."""
    id, item_id = request.path_params["id"], request.path_params["item"]

    def work(store: Store) -> dict[str, Json]:
        session = begin.conversation(store, id)
        path = session.path()
        place = next((place for place, node in enumerate(path)
                      if item_id in {item["id"] for item in message_items(node.message, node.id)}), None)  # fmt: skip
        if place is None:
            raise not_found("Item", item_id)
        rest = [left] if (left := without(path[place].message, path[place].id, item_id)) is not None else []
        rest += [node.message for node in path[place + 1 :]]
        before, head = path[place].parent_id, path[-1].id
        try:
            if rest:
                session.append(rest, at=before, after=head, wait=0)
            else:
                session.move(before)
        except Busy:
            raise locked() from None
        return resource(id, session.info)

    return JsonAnswer(await store_of(request).call(work))


def without(message: Message, id: str, item_id: str) -> Message | None:
    """A message without one of its items; None if it has no other."""
    items = message_items(message, id)
    if len(items) < 2 or len(items) != len(message.blocks):
        return None
    blocks: Any = [block for block, item in zip(message.blocks, items, strict=True) if item["id"] != item_id]
    return replace(message, blocks=tuple(blocks))


routes = [
    Route("/v1/conversations", create, methods=["POST"]),
    Route("/v1/conversations/{id}", retrieve, methods=["GET"]),
    Route("/v1/conversations/{id}", update, methods=["POST"]),
    Route("/v1/conversations/{id}", delete, methods=["DELETE"]),
    Route("/v1/conversations/{id}/items", add_items, methods=["POST"]),
    Route("/v1/conversations/{id}/items", list_items, methods=["GET"]),
    Route("/v1/conversations/{id}/items/{item}", retrieve_item, methods=["GET"]),
    Route("/v1/conversations/{id}/items/{item}", delete_item, methods=["DELETE"]),
]
