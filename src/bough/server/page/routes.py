"""The addresses of the page: each screen as HTML, as `.json` and as `.md`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bough.errors import BoughError, NotFound
from bough.exporters.headings import encodable
from bough.server.context import store_of
from bough.server.page import actions
from bough.server.page.compare import CompareScreen
from bough.server.page.conversation import at_leaf, at_message, at_session
from bough.server.page.document import MESSAGE_CSS, STATIC, ProblemScreen, document, version
from bough.server.page.html import button, moment
from bough.server.page.importing import ImportScreen
from bough.server.page.live import LiveScreen
from bough.server.page.look import Look
from bough.server.page.menus import MessageActions, SessionActions
from bough.server.page.message import media_of
from bough.server.page.new import NewScreen
from bough.server.page.screen import Loader, Redirected, Screen, ScreenRequest
from bough.server.page.search import SearchScreen
from bough.server.page.session_list import ListScreen
from bough.server.page.settings import SettingsScreen
from bough.server.page.stats import StatsScreen
from bough.server.page.trash import TrashScreen
from bough.server.page.tree import TreeScreen
from bough.server.problems import HttpProblem, of_error

if TYPE_CHECKING:
    from bough.store import Store

FORMATS = {".json": "application/json", ".md": "text/markdown; charset=utf-8"}
FOREVER = "public, max-age=31536000, immutable"


def asked_of(request: Request) -> tuple[ScreenRequest, str]:
    """What a request asks for, and in which format."""
    path, format = str(request.path_params.get("path", "")), str(request.path_params.get("format", ""))
    for ending in FORMATS:
        if path.endswith(ending):
            path, format = path.removesuffix(ending), ending
    query = dict(request.query_params)
    if "look" not in query:
        query = {**query, **({"look": look} if (look := request.cookies.get("bough_look")) and
                             request.url.path.startswith("/settings") else {})}  # fmt: skip
    return ScreenRequest.of(request, path, query), format


def screen(load: Loader) -> Callable[[Request], Any]:
    """The endpoint of a screen."""

    async def endpoint(request: Request) -> Response:
        asked, format = asked_of(request)
        return await store_of(request).call(render, load, asked, format, request)

    return endpoint


def render(store: Store, load: Loader, asked: ScreenRequest, format: str, request: Request) -> Response:
    """The response with a screen; 304 if the browser has it already."""
    cursor, look = store.cursor(), Look.of(request.headers.get("cookie", ""))
    kind = {name.removeprefix("."): name for name in FORMATS}.get(format.removeprefix("."), "")
    state = (cursor, look, version(), asked, kind, time.strftime("%F %Z"), store.index_status().waiting)
    etag = f'W/"{hashlib.sha256(repr(state).encode()).hexdigest()[:20]}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Cookie, Accept-Encoding"}
    if request.headers.get("if-none-match") == etag and "undo" not in asked.query:
        return Response(status_code=304, headers=headers)
    status = 200
    try:
        found: Screen = load(store, asked)
    except Redirected as moved:
        return RedirectResponse(moved.address, 307)
    except (BoughError, HttpProblem) as error:
        problem, more = of_error(error), ""
        status = problem.status
        if isinstance(error, NotFound) and asked.path and (entry := store.find_deleted(asked.path)) is not None:
            status, more = 410, f"<p>In the trash since {moment(entry.deleted_at)}.</p>"
            if asked.can_write:
                more += button("restore", "Restore it", id=entry.id)
        found = ProblemScreen(status, problem.code, problem.detail, request.state.request_id, more)
    if kind == ".json":
        return Response(json.dumps(found.data()), status, headers, FORMATS[kind])
    if kind == ".md":
        return Response(encodable(found.markdown()), status, headers, FORMATS[kind])
    undo = actions.toast(store, asked) if "undo" in asked.query else ""
    return Response(document(found, asked, look, cursor, undo), status, headers, "text/html; charset=utf-8")


async def picture(request: Request) -> Response:
    """A picture or a file of a message. What is no plain picture is only for download."""
    return await store_of(request).call(_picture, request)


def _picture(store: Store, request: Request) -> Response:
    from bough.exporters.html.blocks import IMAGES

    (node,) = store.get_messages([request.path_params["id"]])
    found = media_of(node)
    place = int(request.path_params["place"])
    if place >= len(found) or (media := found[place]).data is None:
        raise NotFound(f"Message {node.id!r} has no file {place}.")
    shown = media.mime in IMAGES
    headers = {
        "Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Disposition": "inline" if shown else "attachment",
    }  # fmt: skip
    return Response(media.data, 200, headers, media.mime if shown else "application/octet-stream")


async def export(request: Request) -> Response:
    """A session as one HTML file."""
    from bough.exporters import get
    from bough.exporters.collect import collect

    key = request.query_params.get("key", "")
    html = await store_of(request).call(lambda store: "".join(get("html").write(collect(store, key))))
    headers = {"Content-Disposition": 'attachment; filename="conversation.html"'}
    return Response(html, 200, headers, "text/html; charset=utf-8")


async def style(request: Request) -> Response:  # noqa: ARG001
    """The style sheet: that of messages, which exported pages have as well, and that of the page."""
    css = MESSAGE_CSS.read_text("utf-8") + (STATIC / "page.css").read_text("utf-8")
    return Response(css, 200, {"Cache-Control": FOREVER}, "text/css; charset=utf-8")


class Forever(StaticFiles):
    """Files whose addresses have a digest."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = FOREVER
        return response


SCREENS: tuple[tuple[str, Loader], ...] = (
    ("/live", LiveScreen), ("/stats", StatsScreen), ("/import", ImportScreen), ("/trash", TrashScreen),
    ("/settings", SettingsScreen), ("/new", NewScreen), ("/search", SearchScreen),
)  # fmt: skip
BELOW: tuple[tuple[str, Loader], ...] = (
    ("/c/{path:path}/actions", SessionActions), ("/m/{path:str}/actions", MessageActions),
    ("/c/{path:path}", at_session), ("/m/{path:str}", at_message), ("/b/{path:str}", at_leaf),
    ("/t/{path:path}", TreeScreen), ("/diff/{path:path}", CompareScreen),
)  # fmt: skip

compressed = [Middleware(GZipMiddleware, minimum_size=500, compresslevel=5)]
assets = [
    Mount("/static/page/{version}", routes=[
        Route("/page.css", style), Mount("/", Forever(directory=STATIC)),
    ], middleware=compressed),
]  # fmt: skip
"""The style sheet and the scripts, for which no token is needed."""
routes = [
    Mount("", routes=[
        Route("/", screen(ListScreen)),
        Route("/index.{format:str}", screen(ListScreen)),
        *(Route(path, screen(load)) for path, load in SCREENS),
        *(Route(f"{path}.{{format:str}}", screen(load)) for path, load in SCREENS),
        Route("/m/{id}/files/{place:int}", picture),
        *(Route(path, screen(load)) for path, load in BELOW),
        Route("/export", export),
        *actions.routes,
    ], middleware=compressed),
]  # fmt: skip
