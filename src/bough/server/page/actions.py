"""What the forms of the page do. Each ends with a redirect to where its result is; the script follows it as well."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bough.errors import BoughError, Invalid, NotFound
from bough.exporters.html.blocks import text
from bough.model import user
from bough.model.ids import mint
from bough.server.access.gate import require
from bough.server.api import turns
from bough.server.api.turns import TurnRequest
from bough.server.context import context_of, store_of
from bough.server.page.document import ProblemScreen, document
from bough.server.page.html import button, message_link, session_link
from bough.server.page.importing import ImportScreen, bring_in
from bough.server.page.look import Look
from bough.server.page.screen import ScreenRequest
from bough.server.problems import HttpProblem, of_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bough.store import Store

Given = dict[str, list[str]]
CHANNEL = "page"


def one(given: Given, name: str) -> str | None:
    """A field of a form; None for a blank one."""
    return next((words for words in given.get(name, ()) if words.strip()), None)


def needed(given: Given, name: str) -> str:
    """A field that has to be there. Raises `Invalid`."""
    found = one(given, name)
    if found is None:
        raise Invalid(f"The field {name!r} is missing; nothing was done.")
    return found


# Verbs on the store -------------------------------------------------------------------------------------------------


def fork(store: Store, given: Given) -> str:
    return session_link(store.fork(needed(given, "id")).key) + "#compose"


def label(store: Store, given: Given) -> str:
    id = needed(given, "id")
    store.label(id, one(given, "label"))
    return message_link(id)


def title(store: Store, given: Given) -> str:
    key = needed(given, "key")
    store.session(key).update(title=needed(given, "title").strip())
    return session_link(key)


def pin(store: Store, given: Given) -> str:
    if (id := one(given, "id")) is not None:
        is_pinned = any(pinned.message_id == id for pinned in store.pins())
        (store.unpin if is_pinned else store.pin)(id)
        return message_link(id)
    key = needed(given, "key")
    session = store.session(key)
    (session.unpin if session.info.pinned_at else session.pin)()
    return session_link(key)


def trash(store: Store, given: Given) -> str:
    """Move a message and all after it, or sessions, to the trash; the next screen offers to undo it."""
    if (id := one(given, "id")) is not None:
        (node,) = store.get_messages([id])
        store.delete_messages([id], recursive=True)
        back = message_link(node.parent_id, undo="1") if node.parent_id else "/?undo=1"
        return back.replace("?undo=1#", "?undo=1#")
    keys = given.get("key") or [needed(given, "key")]
    for key in keys:
        store.delete_session(key)
    return "/?undo=1"


def selected(store: Store, given: Given) -> str:
    """Do something with the selected rows of the list."""
    keys = given.get("key", [])
    if one(given, "verb") == "compare":
        if len(keys) != 2:
            raise Invalid(f"Select two conversations to compare them; {len(keys)} are selected.")
        heads = [store.session(key).head or "" for key in keys]
        return f"/diff/{heads[0]}...{heads[1]}"
    if not keys:
        raise Invalid("No conversation is selected; nothing was done.")
    return trash(store, given)


def restore(store: Store, given: Given) -> str:
    ids = store.restore(needed(given, "id"))
    return message_link(ids[0]) if ids else "/"


def undo(store: Store, given: Given) -> str:
    """Take back what was done; where the session or the message is."""
    cursor = one(given, "cursor")
    done = store.undo(int(cursor) if cursor and cursor.isdecimal() else None)
    if done is None:
        raise NotFound("There is nothing to undo.")
    if done.message_id is not None and store.find_id(done.message_id):
        return message_link(done.message_id)
    return session_link(done.session) if done.session and store.find_session(done.session) else "/"


def toast(store: Store, asked: ScreenRequest) -> str:
    """What was just done, with a button that undoes it."""
    done = next(iter(store.undoable(1)), None)
    if done is None or not asked.can_write:
        return ""
    return f'<div class="toast"><p>{text(done.text)}</p>{button("undo", "Undo", cursor=str(done.cursor))}</div>'


VERBS: Mapping[str, Callable[[Store, Given], str]] = {
    "fork": fork, "label": label, "title": title, "pin": pin, "trash": trash, "selected": selected,
    "restore": restore, "undo": undo,
}  # fmt: skip


# Verbs that run a model ---------------------------------------------------------------------------------------------


async def send(request: Request, given: Given) -> str:
    """Ask: at the end of a session, after any message in a new branch, or in a new conversation."""
    store = store_of(request)
    key, at = one(given, "key"), one(given, "at")
    session = await store.call(place, key, at)
    words = user(needed(given, "words").replace("\r\n", "\n"))
    await run_turn(request, TurnRequest(session, None, False, words, given_models(given), None, None, None))
    return await store.call(newest_question, session, at)


async def again(request: Request, given: Given) -> str:
    """Answer the question of a message, or the one before it, again; where the answers are written."""
    store = store_of(request)
    question = await store.call(question_before, needed(given, "id"))
    await run_turn(request, TurnRequest(None, question, True, None, given_models(given), None, None, None))
    return f"/b/{question}#m-{question}"


async def resume(request: Request, given: Given) -> str:
    """Take up a turn that was cut off."""
    turn = await store_of(request).turn_info(needed(given, "id"))
    if turn.session is None:
        raise Invalid(f"The session of turn {turn.id!r} was deleted; fork from a message instead.")
    asked = TurnRequest(turn.session, None, False, None, given_models(given), None, None, None, turn.id)
    await run_turn(request, asked)
    return f"/b/{turn.last_id}#m-{turn.last_id}"


async def stop(request: Request, given: Given) -> str:
    """Stop a turn: what has come of the answer is kept."""
    id = needed(given, "id")
    await turns.stop(context_of(request), store_of(request), id)
    turn = await store_of(request).turn_info(id)
    return message_link(turn.last_id)


RUNNING: Mapping[str, Callable[[Request, Given], Awaitable[str]]] = {
    "send": send, "again": again, "resume": resume, "stop": stop,
}  # fmt: skip


async def run_turn(request: Request, asked: TurnRequest) -> None:
    """Begin a turn, and wait until it is open. Raises what opening it raises."""
    running = await turns.start(context_of(request), store_of(request), request.state.access.tenant, asked)
    await asyncio.shield(running.accepted)


def place(store: Store, key: str | None, at: str | None) -> str:
    """The session that a question goes to: the one that stands there, else a new one at the message."""
    info = store.find_session(key) if key else None
    if info is not None and info.head_id == at:
        return info.key
    new = f"{CHANNEL}:{mint(10)}"
    return new if at is None else store.fork(at, new).key


def newest_question(store: Store, key: str, before: str | None) -> str:
    """The address of the question that was just asked in a session."""
    if before is not None:
        asked = [node for node in store.children(before) if node.role == "user"]
        return message_link(asked[-1].id)
    turn = store.turns(key, limit=1)[0]
    return message_link(turn.parent_id if turn.parent_id is not None else turn.id)


def question_before(store: Store, id: str) -> str:
    """The question that a message answers, or that it is. Raises `Invalid`."""
    question = next((node for node in reversed(store.path(id)) if node.role == "user"), None)
    if question is None:
        raise Invalid(f"No question comes before message {id!r}; nothing was done.")
    return question.id


def given_models(given: Given) -> tuple[str | None, ...]:
    """The models of a form; the default without any."""
    return tuple(name for name in given.get("model", ()) if name.strip()) or (None,)


# Endpoints ----------------------------------------------------------------------------------------------------------


async def act(request: Request) -> Response:
    """Do what a form says. An error is a screen, and says what was kept."""
    verb = request.path_params["verb"]
    async with request.form(max_files=0, max_fields=500) as form:
        given: Given = {}
        for name, words in form.multi_items():
            given.setdefault(name, []).append(str(words))
    served = store_of(request)
    try:
        if verb in RUNNING:
            require(request.state.access, "run")
            address = await RUNNING[verb](request, given)
        elif verb in VERBS:
            address = await served.call(VERBS[verb], given)
        else:
            raise NotFound(f"There is no action {verb!r}.")
    except (BoughError, HttpProblem) as error:
        return problem(request, error)
    return RedirectResponse(address, 303)


async def change_look(request: Request) -> Response:
    """Keep how the page looks, in a cookie."""
    async with request.form(max_files=0, max_fields=20) as form:
        look = Look.chosen({name: str(words) for name, words in form.items()})
    return RedirectResponse("/settings", 303, {"Set-Cookie": look.cookie()})


async def import_file(request: Request) -> Response:
    """Import a file that was sent, and show what was added and skipped."""
    served = store_of(request)
    with tempfile.TemporaryDirectory(prefix="bough-import-") as directory:
        async with request.form(max_files=1, max_fields=5) as form:
            upload = form.get("file")
            if upload is None or isinstance(upload, str) or not upload.filename:
                return problem(request, Invalid("No file was sent; nothing was imported."))
            path = Path(directory) / safe_name(upload.filename)
            with path.open("wb") as file:
                while piece := await upload.read(1 << 20):
                    file.write(piece)
        result = await served.call(bring_in, path)
    asked = ScreenRequest.of(request)
    return await served.call(lambda store: whole(request, ImportScreen(store, asked, result), store.cursor()))


def safe_name(name: str) -> str:
    """The last part of a file's name: importers look at its ending."""
    last = os.path.basename(name.replace("\\", "/")).strip(". \0") or "file"
    return "".join(sign if sign.isalnum() or sign in "._- " else "_" for sign in last)[-120:]


def problem(request: Request, error: BoughError | HttpProblem) -> Response:
    found = of_error(error)
    return whole(
        request, ProblemScreen(found.status, found.code, found.detail, request.state.request_id), 0, found.status
    )


def whole(request: Request, shown: ProblemScreen | ImportScreen, cursor: int, status: int = 200) -> Response:
    """A screen that answers a form."""
    asked = ScreenRequest.of(request)
    look = Look.of(request.headers.get("cookie", ""))
    return Response(document(shown, asked, look, cursor), status, media_type="text/html; charset=utf-8")


Endpoint = Callable[[Request], Awaitable[Response]]
routes = [
    Route("/do/look", change_look, methods=["POST"]),
    Route("/do/import", import_file, methods=["POST"]),
    Route("/do/{verb}", act, methods=["POST"]),
]
