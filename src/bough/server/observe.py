"""Middleware that counts and logs requests: who, what and how long, never content, queries or keys."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from bough.model import Usage

log = logging.getLogger("bough.server")


class Metrics:
    """What Prometheus collects of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("bough_requests", "Requests by route and status.", labels, registry=self.registry)
        self.seconds = Histogram(
            "bough_request_seconds", "Seconds until the end of a response.", ("route",), registry=self.registry
        )
        self.open = Gauge("bough_open_requests", "Requests that are being answered.", registry=self.registry)
        self.tokens = Counter(
            "bough_tokens", "Tokens that models have counted.", ("model", "kind"), registry=self.registry
        )

    def count_tokens(self, model: str, usage: Usage) -> None:
        """Add what a reply has cost."""
        for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            if count:
                self.tokens.labels(model, kind).inc(count)

    def route(self) -> Route:
        """`/metrics`."""

        async def metrics(request: Request) -> Response:  # noqa: ARG001
            return Response(generate_latest(self.registry), media_type="text/plain; version=0.0.4")

        return Route("/metrics", metrics)


class Observer:
    """ASGI middleware around all others."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 499, time.perf_counter()

        async def send_observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        self._metrics.open.inc()
        try:
            await self._app(scope, receive, send_observed)
        except Exception:
            status = 500
            raise
        finally:
            self._metrics.open.dec()
            self._report(scope, status, time.perf_counter() - started)

    def _report(self, scope: Scope, status: int, seconds: float) -> None:
        route = route_of(scope)
        self._metrics.requests.labels(scope["method"], route, status).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        if log.isEnabledFor(logging.INFO):
            state = scope.get("state", {})
            access = state.get("access")
            line = {
                "request": state.get("request_id"), "method": scope["method"], "route": route, "status": status,
                "ms": round(seconds * 1000, 1), "caller": access and access.name, "tenant": access and access.tenant,
            }  # fmt: skip
            log.info("%s", json.dumps(line))


def route_of(scope: Scope) -> str:
    """The pattern of the route, which has neither ids nor a token in it; `other` for a path without one."""
    route = scope.get("route")
    return getattr(route, "path", None) or "other"


def log_to_stderr(*, verbose: bool) -> None:
    """Write a line of JSON per request if verbose, and errors in any case."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter('{"at":"%(asctime)s","level":"%(levelname)s","event":%(message)s}'))
    log.addHandler(handler)
    log.setLevel(logging.INFO if verbose else logging.ERROR)
    log.propagate = False
