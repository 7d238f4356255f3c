"""The routes of the API: each operation behind the checks that all have in common."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, Router

import bough
from bough.model.values import asdict
from bough.server.access.gate import require
from bough.server.api import events, imports, messages, search, sessions, status, turns
from bough.server.api.operations import PREFIX, ApiCall, Operation
from bough.server.api.parsing import arguments, wrong
from bough.server.api.repeats import fingerprint

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

VERSION = {"Bough-Version": bough.__version__}


def operations() -> Sequence[Operation]:
    """All operations, in the order of openapi.json."""
    areas = (sessions, messages, turns, search, imports, status, events)
    return [operation for area in areas for operation in area.OPERATIONS]


def mount() -> Mount:
    """All routes of `/api/v1`."""
    made = [Route(one.path, endpoint(one), methods=[one.method], name=one.id) for one in operations()]
    return Mount(PREFIX, app=EncodedPaths(Router(made)))


class EncodedPaths:
    """ASGI wrapper that routes by the path as it was sent: a session's key may have a slash in it, as `%2F`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path")
        if raw is not None:
            scope["path"] = raw.decode("ascii", "replace").partition("?")[0]
        await self._app(scope, receive, send)


def endpoint(operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    """The function that answers requests for an operation."""

    async def answer(request: Request) -> Response:
        require(request.state.access, operation.scope)
        call = ApiCall(request, operation, await arguments(request, operation))
        call.idempotency_key = key = idempotency_key(request)
        if key is None or operation.remembers:
            return await respond(call)
        repeats = call.context.api.repeats
        mark = fingerprint(operation.id, {**call.given, "body": await _raw(call)})
        return await repeats.once((call.store, call.access.name, key), mark, lambda: respond(call))

    return answer


async def _raw(call: ApiCall) -> Any:
    """Of a file its length: it is not read into memory to be compared."""
    return call.request.headers.get("content-length") if call.operation.takes_file else None


def idempotency_key(request: Request) -> str | None:
    """The key by which a repeated POST is recognised. Raises `HttpProblem` for one that is too long."""
    key = request.headers.get("idempotency-key") if request.method == "POST" else None
    if key is not None and not 1 <= len(key) <= 255:
        raise wrong("Idempotency-Key", "An Idempotency-Key has 1 to 255 characters; nothing was done.")
    return key


async def respond(call: ApiCall) -> Response:
    """Run an operation; its result as a response."""
    result = await call.operation.run(call)
    if isinstance(result, Response):
        result.headers.update(VERSION)
        return result
    if result is None:
        return Response(status_code=204, headers=VERSION)
    body = json.dumps(selected(call, asdict(result))).encode("ascii")
    if call.request.method != "GET":
        return Response(body, call.operation.status, VERSION, "application/json")
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {**VERSION, "ETag": tag, "Cache-Control": "private, no-cache"}
    if tag in [one.strip().removeprefix("W/") for one in call.request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(body, call.operation.status, headers, "application/json")


def selected(call: ApiCall, result: Any) -> Any:
    """A result with the members that the client asked for: of each item, if it is a list."""
    names = call.given.get("fields")
    if not names:
        return result
    items = result.get("data") if isinstance(result.get("data"), list) else None
    if items is None:
        return pick(result, names)
    return {**result, "data": [pick(item, names) for item in items]}


def pick(item: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The members with these names. Raises `HttpProblem` for one that the item does not have."""
    if missing := [name for name in names if name not in item]:
        raise wrong("fields", f"There is no member {missing[0]!r:.60}. There are: {', '.join(item)}.")
    return {name: item[name] for name in names}
