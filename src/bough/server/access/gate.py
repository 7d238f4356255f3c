"""The gate: middleware that every request passes before anything else looks at it.

It checks the name of the host, where the request comes from, and who sends it. The areas of the server differ in what
they take as a proof and in how they say no.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response

from bough.errors import BoughError
from bough.model.values import value
from bough.server.access import tokens
from bough.server.access.cookies import LOCAL, Cookies
from bough.server.access.origins import SAFE_METHODS, check_host, check_origin
from bough.server.access.rates import Rates
from bough.server.access.scopes import SCOPES, Access
from bough.server.problems import (
    HttpProblem,
    Problem,
    as_anthropic_error,
    as_html,
    as_openai_error,
    as_problem_json,
    as_text,
    of_error,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bough.server.settings import ServerSettings
    from bough.server.stores import Stores

Credential: TypeAlias = Literal["bearer", "api-key", "cookie", "path"]
ANYBODY = Access("anybody", frozenset(SCOPES))
"""Everybody on this machine, where the server was started without a token."""


@value
class Area:
    """The paths below a prefix, what they take as a proof, and how their errors look."""

    prefix: str
    credentials: tuple[Credential, ...]
    """None: everybody is let in."""
    error: Callable[[Problem, str], Response]
    checks_host: bool = True
    only_reads: bool = False
    """Whether a POST needs no more than the right to read, because what it asks for decides."""


AREAS = (
    Area("/healthz", (), as_text, checks_host=False),
    Area("/readyz", (), as_text, checks_host=False),
    Area("/signin", (), as_text),
    Area("/static/", (), as_text),
    Area("/metrics", ("bearer",), as_text),
    Area("/v1/messages", ("bearer", "api-key"), as_anthropic_error),
    Area("/v1/", ("bearer", "api-key"), as_openai_error),
    Area("/mcp", ("bearer",), as_problem_json, only_reads=True),
    Area("/proxy/", ("path",), as_openai_error),
    Area("/api/v1/", ("bearer", "cookie"), as_problem_json),
    Area("/", ("cookie", "bearer"), as_html),
)
"""The first that fits decides. A cookie is no proof where programs call: a page could send it without knowing."""


def area_of(path: str) -> Area:
    return next(area for area in AREAS if path == area.prefix or path.startswith(area.prefix.rstrip("/") + "/"))


class Gate:
    """ASGI middleware that lets requests in; `request.state` has their `access`, `store`, `area` and `request_id`."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, stores: Stores, cookies: Cookies | None) -> None:
        self._app = app
        self._settings = settings
        self._stores = stores
        self._cookies = cookies
        self._hosts = settings.allowed_hosts()
        self._rates = Rates(settings.requests_per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["request_id"] = request_id = f"req_{secrets.token_hex(12)}"
        state["area"] = area = area_of(scope["path"])

        async def send_named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            state["access"] = access = await self._admit(scope, area)
            store = None if access is None else await self._stores.of(access.tenant)
        except (HttpProblem, BoughError) as error:
            await area.error(of_error(error), request_id)(scope, receive, send_named)
            return
        if store is None:
            await self._app(scope, receive, send_named)
            return
        state["store"] = store
        with store.in_use():
            await self._app(scope, receive, send_named)

    async def is_still_allowed(self, scope: Scope) -> bool:
        """Whether the sender of a request that lasts would be let in now: its token may have been revoked."""
        try:
            await self._admit(scope, scope["state"]["area"])
        except (HttpProblem, BoughError):
            return False
        return True

    async def _admit(self, scope: Scope, area: Area) -> Access | None:
        """Who sends a request; None where everybody is let in. Raises `HttpProblem`."""
        headers, method = Headers(scope=scope), scope["method"]
        if area.checks_host and self._settings.socket_path is None:
            check_host(headers, self._hosts)
        access, by_cookie = await self._caller(scope, headers, area)
        check_origin(method, headers, self._settings.origins, by_cookie=by_cookie)
        if access is not None:
            require(access, "read" if method in SAFE_METHODS or area.only_reads else "write")
            self._rates.check(access.name)
        return access

    async def _caller(self, scope: Scope, headers: Headers, area: Area) -> tuple[Access | None, bool]:
        """The caller, and whether the cookie proved it."""
        if not area.credentials:
            return None, False
        if self._settings.token is None:
            return ANYBODY, False
        given = presented(scope, headers, area)
        if given is not None:
            found = await self.token_access(given)
            if found is None:
                raise HttpProblem(401, "invalid-token", "That token is unknown, has expired or was revoked.")
            return found[1], False
        if "cookie" in area.credentials and (access := await self._by_cookie(headers)) is not None:
            return access, True
        raise HttpProblem(401, "token-required", "A token is needed: send it as `Authorization: Bearer TOKEN`.")

    async def token_access(self, token: str) -> tuple[str, Access] | None:
        """The id of a token and what it allows; None for an unknown one."""
        own = self._settings.token
        if own is not None and hmac.compare_digest(token.encode(), own.encode()):
            return LOCAL, Access(LOCAL, frozenset(SCOPES))
        home = await self._stores.home()
        return await home.call(tokens.find, token)

    async def _by_cookie(self, headers: Headers) -> Access | None:
        id = self._cookies and self._cookies.token_id(headers.get("cookie", ""), time.time())
        if not id:
            return None
        if id == LOCAL:
            return Access(LOCAL, frozenset(SCOPES))
        home = await self._stores.home()
        return await home.call(tokens.by_id, id)


def presented(scope: Scope, headers: Headers, area: Area) -> str | None:
    """The token that a request shows, in one of the places of its area."""
    if "path" in area.credentials:
        return str(scope["path"]).split("/")[2] if str(scope["path"]).count("/") >= 2 else None
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer" and token.strip():
        return token.strip()
    return headers.get("x-api-key") if "api-key" in area.credentials else None


def require_run(request: Request) -> None:
    """Raises `HttpProblem` (403) unless the caller may run models."""
    require(request.state.access, "run")


def require(access: Access, scope: str) -> None:
    """Raises `HttpProblem` (403) unless the caller has this scope."""
    if not access.allows(scope):
        raise HttpProblem(403, "scope-missing", f"Token {access.name!r} lacks the scope {scope!r}; nothing was done.")
