"""Search, facets, comparison and usage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bough.model import Totals
from bough.model.nodes import STATUSES
from bough.model.search import HAS, Facets, Query
from bough.model.search_query import parse_query
from bough.model.values import replace
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.api.parsing import wrong
from bough.server.api.schemas import page_of
from bough.server.api.wire import CURSOR, NODE, limit_field, node_json, page_json
from bough.storage.replies import GROUPS

if TYPE_CHECKING:
    from bough.model.branches import Comparison
    from bough.store import Store

FILTERS = (
    Field("session", "string", "What is on the path of this session, and what its turns added."),
    Field("channel", "string", "Of this channel."), Field("role", "string", "Of this role."),
    Field("label", "string", "With this label."), Field("model", "string", "Replies of this model; * is a wildcard."),
    Field("tool", "string", "Calls and results of this tool; * is a wildcard."),
    Field("directory", "string", "Of sessions in this directory or below."),
    Field("has", "list", "With all of these.", choices=HAS),
    Field("status", "string", "Of turns that ended like this.", choices=STATUSES),
    Field("since", "time", "From this time on."), Field("until", "time", "Before this time."),
    Field("min_cost", "number", "Of turns that cost at least this, in dollars."),
    Field("max_cost", "number", "Of turns that cost at most this, in dollars."),
)  # fmt: skip
WORDS = Field("q", "string", 'Words, "phrases", -excluded, beginnings* and operators such as role:user.', default="")


def query_of(call: ApiCall) -> Query:
    """What a call looks for: its words and operators, with its parameters in their place."""
    given = call.some(*(field.name for field in FILTERS))
    if "has" in given:
        given["has"] = tuple(given["has"])
    return replace(parse_query(call["q"]), **given)


async def search(call: ApiCall) -> dict[str, Any]:
    """The messages that have all words, a page at a time. What is not indexed yet is not waited for."""
    cursors, query = call.context.api.cursors(call.context), query_of(call)
    found = await call.store.search(
        query, order=call["order"], limit=call["limit"], cursor=cursors.read(call), paths=call["paths"], index=False
    )
    if found.waiting:
        call.context.api.index(call.store)
    next = None if found.next is None else cursors.make(call, found.next)
    status = await call.store.index_status() if found.waiting else None
    hits = [{"node": node_json(hit.node), "snippet": hit.snippet, "session": hit.session, "path": hit.path}
            for hit in found]  # fmt: skip
    return page_json(
        hits, next, by_beginning=found.by_beginning, waiting=found.waiting, notes=found.notes,
        searched_at=status and status.searched_at,
    )  # fmt: skip


async def facets(call: ApiCall) -> Facets:
    """How often each value of a filter occurs among what a search finds."""
    return await call.store.facets(query_of(call), most=call["most"])


async def compare(call: ApiCall) -> dict[str, Any]:
    """The common beginning of two dialogs, and what each has after it."""

    def work(store: Store) -> Comparison:
        return store.compare(head(store, call["a"]), head(store, call["b"]))

    found = await call.store.call(work)
    return {
        "fork_id": found.fork_id, "common": len(found.common),
        "a": [node_json(node) for node in found.a], "b": [node_json(node) for node in found.b],
    }  # fmt: skip


def head(store: Store, name: str) -> str:
    """The message of a name: an id, or where the session with this key stands."""
    info = store.find_session(name)
    return name if info is None or info.head_id is None else info.head_id


async def usage(call: ApiCall) -> dict[str, Any]:
    """Tokens and cost, in all or by what replies have in common."""
    groups = call["by"] or []
    if len(groups) > 2:
        raise wrong("by", "Usage is grouped by one or two of them.")
    by: Any = None if not groups else groups[0] if len(groups) == 1 else tuple(groups)
    found = await call.store.usage(call["session"], by=by, delegates=call["delegates"], **call.some("since", "until"))
    return page_json(found, None)


HIT = {"type": "object", "required": ["node", "snippet", "session", "path"], "properties": {
    "node": NODE, "snippet": {"type": "string"}, "session": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    "path": {"type": "array", "items": {"type": "string"}}}}  # fmt: skip
OPERATIONS = (
    Operation("GET", "/search", "search", "Search messages by words and filters.", search,
        page_of(HIT, by_beginning=bool, waiting=int, notes=tuple[str, ...], searched_at=int | None), query=(
        WORDS, *FILTERS, Field("order", "string", "Which come first.", choices=("newest", "best"), default="newest"),
        Field("paths", "boolean", "With the ids from the root to each.", default=False), limit_field(20, 200), CURSOR,
    )),
    Operation("GET", "/facets", "facets", "Count the values of filters among what a search finds.", facets, Facets,
        query=(WORDS, *FILTERS, Field("most", "integer", "How many messages are counted at most.", default=50_000,
                                      least=1, most=1_000_000))),
    Operation("GET", "/compare", "compare", "Compare two dialogs.", compare,
        {"type": "object", "required": ["fork_id", "common", "a", "b"], "properties": {
            "fork_id": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "common": {"type": "integer"},
            "a": {"type": "array", "items": NODE}, "b": {"type": "array", "items": NODE}}},
        query=(Field("a", "string", "A message, or the key of a session.", is_required=True),
               Field("b", "string", "Another one.", is_required=True))),
    Operation("GET", "/usage", "usage", "Sum up tokens and cost.", usage, page_of(Totals), query=(
        Field("by", "list", "One or two groups.", choices=GROUPS), Field("session", "string", "Only of this session."),
        Field("delegates", "boolean", "With the sessions that work for it.", default=True),
        Field("since", "time", "From this time on."), Field("until", "time", "Before this time."),
    )),
)  # fmt: skip
