"""`/proxy/TOKEN/PROVIDER/…`: requests pass to a provider as they are, with the client's own key, and are recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bough.server.context import context_of, store_of
from bough.server.problems import HttpProblem
from bough.server.proxy.recorder import ProxiedDialog, client_name
from bough.server.proxy.upstreams import base_of, format_of, target_of

if TYPE_CHECKING:
    import httpx2

    from bough.server.context import ServerContext

HOP = {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding",
       "upgrade", "host", "content-length", "accept-encoding", "cookie", "x-forwarded-for", "forwarded",
       "x-forwarded-host", "x-forwarded-proto"}  # fmt: skip
"""Headers of one connection, and those that say where a request came from: not passed on."""
ANSWER_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "set-cookie", "x-request-id",
              "strict-transport-security", "alt-svc"}  # fmt: skip
METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH"]


async def forward(request: Request) -> Response:
    """Send a request on, and the answer back as it comes."""
    context, name, path = context_of(request), request.path_params["provider"], request.path_params["path"]
    base = base_of(name, context.settings.proxies)
    if base is None:
        raise HttpProblem(404, "not-found", f"No provider {name!r} is known to the proxy; see [server.proxy].")
    body = await request.body()
    dialog = dialog_of(request, path, body)
    if dialog is not None:
        await dialog.ask()
    upstream = await send(context, request, target_of(base, path), body)
    headers = {key: value for key, value in upstream.headers.items() if key.lower() not in ANSWER_HOP}
    pieces = passed(upstream, dialog if upstream.is_success else None)
    return StreamingResponse(pieces, upstream.status_code, headers, background=BackgroundTask(upstream.aclose))


def dialog_of(request: Request, path: str, body: bytes) -> ProxiedDialog | None:
    """What to record of a request; None if it has no dialog."""
    format = format_of(request.method, path)
    if format is None:
        return None
    prefix = f"proxy:{client_name(request.headers.get('user-agent', ''))}"
    return ProxiedDialog(store_of(request), prefix, format, body)


async def send(context: ServerContext, request: Request, target: str, body: bytes) -> httpx2.Response:
    """The provider's answer, before its body. Raises `HttpProblem` if it cannot be reached."""
    import httpx2

    headers = [(key, value) for key, value in request.headers.items() if key.lower() not in HOP]
    # Unknown compressions cannot be recorded; gzip can.
    made = context.forwarding.build_request(
        request.method, target, params=request.url.query or None, content=body,
        headers=[*headers, ("accept-encoding", "gzip, identity")],
    )  # fmt: skip
    try:
        return await context.forwarding.send(made, stream=True)
    except httpx2.HTTPError as error:
        detail = f"The provider behind the proxy cannot be reached ({type(error).__name__}); nothing was sent."
        raise HttpProblem(502, "provider-unreachable", detail) from None


async def passed(upstream: httpx2.Response, dialog: ProxiedDialog | None) -> AsyncIterator[bytes]:
    """The body as it comes. A whole reply is stored before its client sees the end, after which clients may hang up."""
    try:
        if dialog is None:
            async for piece in upstream.aiter_raw():
                yield piece
        elif "json" in upstream.headers.get("content-type", ""):
            whole = b"".join([piece async for piece in upstream.aiter_raw()])
            dialog.take(whole)
            await dialog.answer(upstream.headers)
            yield whole
        else:
            async for piece in upstream.aiter_raw():
                if dialog.take(piece):
                    await dialog.answer(upstream.headers)
                yield piece
            await dialog.answer(upstream.headers)
    finally:
        await upstream.aclose()


routes = [Route("/proxy/{token}/{provider}/{path:path}", forward, methods=METHODS)]
