"""Sessions: lists, one session, what it has been, and its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from bough.errors import Conflict, NotFound
from bough.model import SessionInfo, Undoable
from bough.model.branches import Branch
from bough.model.ids import mint
from bough.model.previews import SessionPreview
from bough.model.traces import Trace
from bough.model.values import UNSET, asdict
from bough.server.api.operations import ApiCall, Field, Operation
from bough.server.api.schemas import page_of
from bough.server.api.wire import AS_OF, CURSOR, LIMIT, NODE, limit_field, node_json, page_json

if TYPE_CHECKING:
    from bough.session import Session
    from bough.store import Store


async def sessions(call: ApiCall) -> dict[str, Any]:
    """A page of sessions, the most recently used first."""
    cursors, limit = call.context.api.cursors(call.context), call["limit"]
    before = cursors.read(call)
    filters = call.some("channel", "directory", "parent", "label", "as_of", "delegates", "pinned")
    found = await call.store.sessions(**filters, before=before, limit=limit + 1)
    page = found[:limit]
    next = cursors.make(call, page[-1].cursor) if len(found) > limit and "as_of" not in call else None
    shown = await call.store.previews(page) if call["previews"] else page
    return page_json(shown, next, as_of=call["as_of"])


async def create(call: ApiCall) -> SessionInfo:
    """A new session."""
    key = call["key"] or f"api:{mint(12)}"

    def work(store: Store) -> SessionInfo:
        if store.find_session(key) is not None:
            raise Conflict(f"There is a session {key!r} already; nothing was done.")
        return store.session(key, **call.some("title", "directory", "agent", "model", "extra")).info

    return await call.store.call(work)


async def session(call: ApiCall) -> SessionInfo:
    """One session."""
    found = await call.store.find_session(call["key"], as_of=call["as_of"])
    if found is None:
        await call.store.call(missing, call["key"])
    assert found is not None
    return found


def known(store: Store, key: str) -> Session:
    """A session that exists. Raises `NotFound`."""
    return store.session(key) if store.find_session(key) is not None else missing(store, key)


def missing(store: Store, key: str) -> NoReturn:
    """Raises `NotFound`, which says whether the session is in the trash."""
    entry = trash_entry(store, key)
    if entry is None:
        raise NotFound(f"There is no session {key!r:.80}.")
    raise NotFound(f"Session {key!r:.80} is in the trash; POST /trash/{entry}/restore brings it back.")


def trash_entry(store: Store, key: str) -> str | None:
    """The id of the newest entry of the trash with this session."""
    return next((entry.id for entry in store.trash() if key in entry.sessions), None)


async def change(call: ApiCall) -> SessionInfo:
    """Change what is given; null clears `extra`, and moves the head before the first message."""

    def work(store: Store) -> SessionInfo:
        found = known(store, call["key"])
        if "head" in call:
            found.move(call["head"])
        described = call.some("title", "directory", "agent", "model")
        if described or "extra" in call:
            found.update(**described, extra=call.given.get("extra", UNSET))
        if "pinned" in call:
            (found.pin if call["pinned"] else found.unpin)()
        return found.info

    return await call.store.call(work)


async def delete(call: ApiCall) -> dict[str, Any]:
    """Move a session to the trash."""

    def work(store: Store) -> dict[str, Any]:
        known(store, call["key"])
        store.delete_session(call["key"])
        return {"trash": trash_entry(store, call["key"])}

    return await call.store.call(work)


async def path(call: ApiCall) -> dict[str, Any]:
    """The end of the dialog, oldest first; `next` is a message, before which the page before it ends."""
    limit, before = call["limit"], call["before"]

    def work(store: Store) -> dict[str, Any]:
        dialog = known(store, call["key"])
        if before is None:
            return path_page(dialog.path(limit, as_of=call["as_of"]))
        return path_page(store.path(before, limit + 1)[:-1])

    return await call.store.call(work)


def path_page(nodes: list[Any]) -> dict[str, Any]:
    """A part of a path."""
    earlier = nodes[0].id if nodes and nodes[0].parent_id is not None else None
    return page_json([node_json(node) for node in nodes], earlier)


async def branches(call: ApiCall) -> dict[str, Any]:
    """The ends of the trees of a session."""

    def work(store: Store) -> list[Branch]:
        return known(store, call["key"]).branches(as_of=call["as_of"])

    return page_json(await call.store.call(work), None)


async def trace(call: ApiCall) -> Trace:
    """A session with those that work for it."""

    def work(store: Store) -> Trace:
        return known(store, call["key"]).trace()

    return await call.store.call(work)


async def fork(call: ApiCall) -> SessionInfo:
    """A new session at a message of this one, or at its head."""

    def work(store: Store) -> SessionInfo:
        return known(store, call["key"]).fork(call["at"], call["new_key"], call["title"]).info

    return await call.store.call(work)


async def fork_message(call: ApiCall) -> SessionInfo:
    """A new session at a message."""

    def work(store: Store) -> SessionInfo:
        return store.fork(call["id"], call["key"], call["title"]).info

    return await call.store.call(work)


async def undoable(call: ApiCall) -> dict[str, Any]:
    """What can be undone."""

    def work(store: Store) -> list[Undoable]:
        return (store if call["session"] is None else known(store, call["session"])).undoable(call["limit"])

    return page_json(await call.store.call(work), None)


async def undo(call: ApiCall) -> dict[str, Any]:
    """Undo the last change that can be undone, or one of them."""

    def work(store: Store) -> Undoable | None:
        return (store if call["session"] is None else known(store, call["session"])).undo(call["cursor"])

    done = await call.store.call(work)
    return {"undone": None if done is None else asdict(done)}


KEY = Field("key", "string", "The key of the new session; one is made without it.")
TITLE = Field("title", "string", "Its title.")
DESCRIPTION = (
    TITLE, Field("directory", "string", "Its directory."), Field("agent", "string", "Its agent."),
    Field("model", "string", "Its model, PROVIDER:MODEL."), Field("extra", "any", "Any JSON.", is_nullable=True),
)  # fmt: skip
TRASHED = {"type": "object", "properties": {"trash": {"type": "string"}}, "required": ["trash"]}
OPERATIONS = (
    Operation("GET", "/sessions", "listSessions", "List sessions, the most recently used first.", sessions,
        page_of(SessionInfo | SessionPreview, as_of=int | None), query=(
        Field("channel", "string", "Only of this channel: cli, telegram, claude-code …"),
        Field("directory", "string", "Only of this directory."),
        Field("parent", "string", "Only those that work for this session."),
        Field("label", "string", "Only those with a message that has this label."),
        Field("delegates", "boolean", "Whether sessions of subagents are listed.", default=True),
        Field("pinned", "boolean", "Only pinned ones.", default=False),
        Field("previews", "boolean", "With first question, last words, counts, cost and status.", default=False),
        AS_OF, LIMIT, CURSOR,
    )),
    Operation("POST", "/sessions", "createSession", "Create a session.", create, SessionInfo, body=(KEY, *DESCRIPTION),
              scope="write", status=201),
    Operation("GET", "/sessions/{key}", "getSession", "Read a session.", session, SessionInfo, query=(AS_OF,)),
    Operation("PATCH", "/sessions/{key}", "changeSession", "Describe, pin or move a session.", change, SessionInfo,
        scope="write", body=(
        *DESCRIPTION, Field("pinned", "boolean", "Whether it is pinned."),
        Field("head", "string", "The message to move to; null is before the first.", is_nullable=True),
    )),
    Operation("DELETE", "/sessions/{key}", "deleteSession", "Move a session to the trash.", delete, TRASHED,
              scope="write"),
    Operation("GET", "/sessions/{key}/path", "sessionPath", "Read the dialog of a session.", path, page_of(NODE),
        query=(limit_field(200), Field("before", "string", "A message; the page ends before it."), AS_OF)),
    Operation("GET", "/sessions/{key}/branches", "sessionBranches", "List the branches of a session.", branches,
              page_of(Branch), query=(AS_OF,)),
    Operation("GET", "/sessions/{key}/trace", "sessionTrace", "Read the turns of a session and of its subagents.",
              trace, Trace),
    Operation("POST", "/sessions/{key}/fork", "forkSession", "Fork a session at one of its messages or its head.", fork,
        SessionInfo, scope="write", status=201, body=(
        Field("at", "string", "The message; its head without one."),
        Field("new_key", "string", "The key of the fork; one is made without it."), TITLE,
    )),
    Operation("POST", "/messages/{id}/fork", "forkMessage", "Create a session at a message.", fork_message, SessionInfo,
              scope="write", status=201, body=(KEY, TITLE)),
    Operation("GET", "/undo", "listUndoable", "List what can be undone, the newest first.", undoable, page_of(Undoable),
        query=(Field("session", "string", "Only of this session."), limit_field(20))),
    Operation("POST", "/undo", "undo", "Undo a move, a deletion, a title or a label.", undo,
        {"type": "object", "properties": {"undone": {"anyOf": [{"$ref": "#/components/schemas/Undoable"},
                                                               {"type": "null"}]}}, "required": ["undone"]},
        scope="write", body=(Field("session", "string", "Of this session."),
                             Field("cursor", "integer", "The number of the change; the newest without it.", least=0))),
)  # fmt: skip
