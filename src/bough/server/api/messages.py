"""Messages: one, its place in the tree, its content, labels and pins."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from bough.errors import BoughError, NotFound
from bough.formats.jsonl import encode_node
from bough.model import Headline, Media, Pin, ToolResult, TurnInfo
from bough.model.branches import Segment
from bough.model.values import asdict
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.api.schemas import page_of
from bough.server.api.sessions import TRASHED, path_page
from bough.server.api.wire import AS_OF, NODE, is_plain, limit_field, node_json, page_json
from bough.server.problems import HttpProblem
from bough.storage import lookup

if TYPE_CHECKING:
    from bough.model import Block, Node
    from bough.store import Store

PICTURES = {"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"}
"""What a browser shows as a picture, and cannot run. Everything else is a download."""
MOST_DRAWN = 10_000


def one(store: Store, id: str) -> Node:
    """A message. Raises `HttpProblem` (410) for one in the trash, `NotFound` and `Ambiguous`."""
    try:
        return store.get_messages([id])[0]
    except NotFound:
        try:
            entry = lookup.deleted(store.db, id)
        except BoughError:
            entry = None
        if entry is None:
            raise
    raise HttpProblem(410, "in-the-trash", f"Message {id!r} is in the trash; POST /trash/{entry}/restore brings it "
                      "back, under the same id.")  # fmt: skip


async def message(call: ApiCall) -> dict[str, Any]:
    """A message with its place, its turn, the answers beside it and the sessions through it."""

    def work(store: Store) -> dict[str, Any]:
        node = one(store, call["id"])
        siblings = [node.id] if node.parent_id is None else [child.id for child in store.children(node.parent_id)]
        through = [info.key for info in store.sessions_through(node.id)]
        turn = None if node.turn_id is None else asdict(store.turn_info(node.turn_id))
        return {**node_json(node), "siblings": siblings, "sessions": through, "turn": turn}

    return await call.store.call(work)


async def raw(call: ApiCall) -> dict[str, Any]:
    """A message as an archive has it, with bytes as base64 and the provider's envelope."""
    return encode_node(await call.store.call(one, call["id"]))


async def path(call: ApiCall) -> dict[str, Any]:
    """The dialog that leads to a message, or the part of it before one."""

    def work(store: Store) -> dict[str, Any]:
        end = one(store, call["id"])
        if call["before"] is None:
            return path_page(store.path(end.id, call["limit"]))
        return path_page(store.path(call["before"], call["limit"] + 1)[:-1])

    return await call.store.call(work)


async def children(call: ApiCall) -> dict[str, Any]:
    """What follows a message."""

    def work(store: Store) -> list[Node]:
        return store.children(one(store, call["id"]).id, as_of=call["as_of"])

    return page_json([node_json(node) for node in await call.store.call(work)], None)


async def outline(call: ApiCall) -> dict[str, Any]:
    """The tree below a message, or of it, as runs without a fork; parents first."""

    def work(store: Store) -> dict[str, Any]:
        one(store, call["id"])
        deepest = call["depth"]
        given: dict[str, Any] = {"whole": call["whole"], "subagents": call["subagents"], "as_of": call["as_of"]}
        trees = store.segments(call["id"], **given)
        rows = [{"depth": depth, "segment": asdict(tree.node), "branches": len(tree.children)}
                for tree in trees for depth, tree in tree.walk() if deepest is None or depth <= deepest]  # fmt: skip
        return page_json(rows[:MOST_DRAWN], None, total=len(rows))

    return await call.store.call(work)


async def label(call: ApiCall) -> None:
    """Put a label on a message, or take it off."""
    await call.store.call(one, call["id"])
    await call.store.label(call["id"], call["text"])


async def pin(call: ApiCall) -> None:
    """Pin a message, or unpin it."""
    await call.store.call(one, call["id"])
    await (call.store.pin if call["pinned"] else call.store.unpin)(call["id"])


async def delete(call: ApiCall) -> dict[str, Any]:
    """Move a message to the trash, with what follows it if asked."""

    def work(store: Store) -> dict[str, Any]:
        id = one(store, call["id"]).id
        store.delete_messages([id], call["recursive"])
        return {"trash": lookup.deleted(store.db, id)}

    return await call.store.call(work)


async def labels(call: ApiCall) -> dict[str, Any]:
    """The labels and how many messages have them."""
    return {"labels": await call.store.labels(subagents=call["subagents"])}


async def pins(call: ApiCall) -> dict[str, Any]:
    """The pinned messages."""
    return page_json(await call.store.pins(), None)


async def block(call: ApiCall) -> Response:
    """The content of one block."""

    position = int(call["position"]) if call["position"].isdecimal() and len(call["position"]) < 9 else -1

    def work(store: Store) -> tuple[Block, str]:
        node = one(store, call["id"])
        flat = flattened(node)
        if not 0 <= position < len(flat):
            raise NotFound(f"Message {node.id!r} has no block {call['position']!r:.20}.")
        return flat[position], node.id

    found, id = await call.store.call(work)
    mime = found.mime.lower() if isinstance(found, Media) else "text/plain; charset=utf-8"
    tag = f'"{sha256(f"{id}/{position}".encode()).hexdigest()[:24]}"'
    headers = {
        # Messages never change; only their ids lead here, and they are not guessed.
        "Cache-Control": "private, max-age=31536000, immutable", "ETag": tag,
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }  # fmt: skip
    if call.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    is_shown = mime in PICTURES or not isinstance(found, Media)
    headers["Content-Disposition"] = "inline" if is_shown else "attachment"
    if not is_shown:
        mime = "application/octet-stream"

    async def pieces() -> AsyncIterator[bytes]:
        async for piece in call.store.content(id, position):
            yield piece

    return StreamingResponse(pieces(), headers=headers, media_type=mime)


def flattened(node: Node) -> list[Block]:
    """The blocks of a message in the order of their numbers: results before the parts inside of them."""
    found: list[Block] = []
    for each in node.message.blocks:
        found.append(each)
        if isinstance(each, ToolResult) and not is_plain(each):
            found += each.content
    return found


MESSAGE = {"allOf": [NODE, {"type": "object", "properties": {
    "siblings": {"type": "array", "items": {"type": "string"}},
    "sessions": {"type": "array", "items": {"type": "string"}},
    "turn": {"anyOf": [{"$ref": "#/components/schemas/TurnInfo"}, {"type": "null"}]},
}, "required": ["siblings", "sessions", "turn"]}]}  # fmt: skip
ROW = {"type": "object", "required": ["depth", "segment", "branches"], "properties": {
    "depth": {"type": "integer"}, "segment": {"$ref": "#/components/schemas/Segment"},
    "branches": {"type": "integer"}}}  # fmt: skip
VALUES = (Headline, Segment, TurnInfo)
"""Values that the schemas above refer to."""
BEFORE = Field("before", "string", "A message of this path; the page ends before it.")
SUBAGENTS = Field("subagents", "boolean", "Whether what subagents added is among it.", default=True)
OPERATIONS = (
    Operation("GET", "/messages/{id}", "getMessage", "Read a message and its place in the tree.", message, MESSAGE),
    Operation("GET", "/messages/{id}/raw", "rawMessage", "Read a message as it is stored, with the provider's reply.",
              raw, {"type": "object"}),
    Operation("GET", "/messages/{id}/path", "messagePath", "Read the dialog that leads to a message.", path,
              page_of(NODE), query=(limit_field(200), BEFORE)),
    Operation("GET", "/messages/{id}/children", "messageChildren", "List what follows a message.", children,
              page_of(NODE), query=(AS_OF,)),
    Operation("GET", "/messages/{id}/outline", "messageOutline", "Draw the tree below a message, by runs of messages.",
        outline, page_of(ROW, total=int), query=(
        Field("depth", "integer", "At most so many branchings deep.", least=0),
        Field("whole", "boolean", "The whole tree that the message is in.", default=False), SUBAGENTS, AS_OF,
    )),
    Operation("GET", "/messages/{id}/blocks/{position}", "blockContent", "Read the content of one block.", block,
        {"type": "string", "contentEncoding": "binary"}, media_type="application/octet-stream"),
    Operation("PUT", "/messages/{id}/label", "labelMessage", "Put a label on a message; null takes it off.", label,
        scope="write", body=(Field("text", "string", "The label.", is_required=True, is_nullable=True),), status=204),
    Operation("PUT", "/messages/{id}/pin", "pinMessage", "Pin or unpin a message.", pin, scope="write", status=204,
        body=(Field("pinned", "boolean", "Whether it is pinned.", is_required=True),)),
    Operation("DELETE", "/messages/{id}", "deleteMessage", "Move a message to the trash.", delete, TRASHED,
        scope="write", query=(Field("recursive", "boolean", "With everything that follows it.", default=False),)),
    Operation("GET", "/labels", "listLabels", "List labels, with the number of messages of each.", labels,
        {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": {"type": "integer"}}},
         "required": ["labels"]}, query=(SUBAGENTS,)),
    Operation("GET", "/pins", "listPins", "List pinned messages.", pins, page_of(Pin)),
)  # fmt: skip
