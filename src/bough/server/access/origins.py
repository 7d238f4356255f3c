"""Which names of this server a request may use, and which pages may send it.

A name that is not ours may be another site's that resolves to this machine (DNS rebinding). A page of another site can
send requests, though it cannot read the answers; browsers say where a request comes from.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers

from bough.server.problems import HttpProblem

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}


def check_host(headers: Headers, allowed: frozenset[str]) -> None:
    """Raises `HttpProblem` (421) for a Host that is not this server's."""
    hosts = headers.getlist("host")
    if len(hosts) != 1 or host_name(hosts[0]) not in allowed:
        shown = ", ".join(hosts)[:100] or "none"
        raise HttpProblem(
            421, "wrong-host", f"This server is not {shown}. `hosts` in [server] of the configuration adds a name."
        )


def host_name(host: str) -> str:
    """The name in a Host header, without the port."""
    name, _, port = host.rpartition(":")
    return (name if name and (port.isdecimal() or not port) else host).lower()


def check_origin(method: str, headers: Headers, allowed: tuple[str, ...], *, by_cookie: bool) -> None:
    """Raises `HttpProblem` (403) for a request that a page of another site has sent.

    Reading is allowed, because that page cannot see the answer; a request by cookie has to come from our own page.
    """
    origin = headers.get("origin")
    if origin is not None and origin.lower() in allowed:
        return
    site = headers.get("sec-fetch-site")
    if method in SAFE_METHODS and not by_cookie:
        return
    if method in SAFE_METHODS and (site is None or site in ("same-origin", "none") or is_navigation(headers)):
        return
    own = origin is not None and urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    if site in ("same-origin", "none") or own or (site is None and origin is None and not by_cookie):
        return
    raise HttpProblem(
        403, "cross-site", f"A page of {origin or 'another site'} sent this request, and only bough's own may; "
        "nothing was done. `origins` in [server] of the configuration allows a site."
    )  # fmt: skip


def is_navigation(headers: Headers) -> bool:
    """Whether somebody followed a link to this page."""
    return headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
