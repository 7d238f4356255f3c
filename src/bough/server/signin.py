"""Signing a browser in: a token becomes a cookie.

`bough serve` shows an address with the token behind a `#`, which browsers do not send; a script of the sign-in page
posts it. Without JavaScript it is pasted into the form.
"""

from __future__ import annotations

import time
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bough.server.context import context_of
from bough.server.problems import HttpProblem

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Sign in · bough</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/static/signin.css">
<script type="module" src="/static/signin.js"></script></head>
<body><main><h1>bough</h1>{notice}<form method="post" action="/signin"><input type="hidden" name="next" value="{next}">
<p><label for="token">Token</label> <input id="token" name="token" type="password" autocomplete="off" required>
<button>Sign in</button></p></form><p>The token is in the file that <code>bough serve</code> names when it starts.</p>
</main></body></html>"""


async def show(request: Request) -> Response:
    """The form."""
    return HTMLResponse(page(request.query_params.get("next", "/")))


async def sign_in(request: Request) -> Response:
    """Check the token and set the cookie. Raises `HttpProblem` (403) where the server has no token."""
    context = context_of(request)
    gate = request.app.state.gate
    if context.cookies is None:
        raise HttpProblem(403, "no-token", "This server was started without a token; everybody here is let in.")
    form = await request.form(max_files=0, max_fields=4)
    target = local_path(str(form.get("next", "/")))
    found = await gate.token_access(str(form.get("token", "")).strip())
    if found is None:
        notice = '<p role="alert">That token is unknown, has expired or was revoked.</p>'
        return HTMLResponse(page(target, notice), 401)
    answer = RedirectResponse(target, 303)
    answer.headers["Set-Cookie"] = context.cookies.make(found[0], time.time())
    return answer


async def sign_out(request: Request) -> Response:
    """Remove the cookie from the browser."""
    answer = RedirectResponse("/signin", 303)
    if (cookies := context_of(request).cookies) is not None:
        answer.headers["Set-Cookie"] = cookies.clear()
    return answer


def page(target: str, notice: str = "") -> str:
    return PAGE.format(next=escape(local_path(target), quote=True), notice=notice)


def local_path(target: str) -> str:
    """A path of this server; `/` for anything that a browser would take for another site."""
    is_local = target.startswith("/") and not target.startswith(("//", "/\\")) and target.isprintable()
    return target if is_local else "/"


routes = [
    Route("/signin", show, methods=["GET"]),
    Route("/signin", sign_in, methods=["POST"]),
    Route("/signout", sign_out, methods=["POST"]),
]
