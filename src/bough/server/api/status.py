"""The store and its server: status, trash, and the description of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bough
from bough.model import Size, TrashEntry, TurnInfo
from bough.model.search import IndexStatus
from bough.model.values import value
from bough.server.api.operations import ApiCall, Operation
from bough.server.api.schemas import page_of
from bough.server.api.wire import page_json

if TYPE_CHECKING:
    from bough.store import Store


@value
class ServerStatus:
    """What a client asks first."""

    version: str
    cursor: int
    """The number of the newest change."""
    size: Size
    index: IndexStatus
    scopes: tuple[str, ...]
    """What the caller may do."""
    models: tuple[str, ...]
    running: tuple[TurnInfo, ...]
    """The turns that run, in any process."""


async def status(call: ApiCall) -> ServerStatus:
    """The version, the store, the caller and what runs."""

    def work(store: Store) -> ServerStatus:
        running = tuple(store.turns(status="running", limit=100))
        return ServerStatus(bough.__version__, store.cursor(), store.size(), store.index_status(),
                            tuple(sorted(call.access.scopes)), tuple(call.context.models.names), running)  # fmt: skip

    return await call.store.call(work)


async def running(call: ApiCall) -> dict[str, Any]:
    """What running turns have received so far."""
    from bough.formats.jsonl import encode_message

    found = await call.store.running_replies()
    return page_json([{"turn_id": one.turn_id, "parent_id": one.parent_id, "session": one.session,
                       "blocks": encode_message(one.message)["blocks"]} for one in found], None)  # fmt: skip


async def trash(call: ApiCall) -> dict[str, Any]:
    """What was deleted, the newest first."""
    return page_json(await call.store.trash(), None)


async def restore(call: ApiCall) -> dict[str, Any]:
    """Bring back an entry of the trash."""
    return {"messages": await call.store.restore(call["id"])}


async def openapi(call: ApiCall) -> dict[str, Any]:
    """The description of this API."""
    from bough.server.api.openapi import document
    from bough.server.api.routes import operations

    return document(operations(), call.context.settings.address)


RUNNING = {"type": "object", "required": ["turn_id", "parent_id", "session", "blocks"], "properties": {
    **{name: {"anyOf": [{"type": "string"}, {"type": "null"}]} for name in ("turn_id", "parent_id", "session")},
    "blocks": {"type": "array", "items": {"type": "object"}}}}  # fmt: skip
OPERATIONS = (
    Operation("GET", "/status", "status", "Read the state of the store and the server.", status, ServerStatus),
    Operation("GET", "/running", "running", "List what running turns have received so far.", running,
              page_of(RUNNING)),
    Operation("GET", "/trash", "listTrash", "List what was deleted and can be restored.", trash, page_of(TrashEntry)),
    Operation("POST", "/trash/{id}/restore", "restore", "Bring back what was deleted, under the same ids.", restore,
        {"type": "object", "properties": {"messages": {"type": "array", "items": {"type": "string"}}},
         "required": ["messages"]}, scope="write"),
    Operation("GET", "/openapi.json", "openapi", "Read this description.", openapi, {"type": "object"}),
)  # fmt: skip
