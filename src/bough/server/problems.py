"""Errors as HTTP answers: one table of statuses, and the envelope of each area."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from starlette.responses import Response

from bough.errors import BoughError, ProviderError
from bough.model.values import value

STATUSES = {
    "error": 500,
    "invalid": 400,
    "not_found": 404,
    "cursor_expired": 410,
    "ambiguous": 400,
    "refused": 409,
    "conflict": 409,
    "busy": 409,
    "format": 422,
    "import": 422,
    "config": 500,
    "tool": 502,
    "provider": 502,
    "storage": 500,
    "full": 507,
}
"""HTTP status by the code of an error. A code that is not listed has the status of its parent class."""
PROVIDER_STATUSES = {"rate_limit": 429, "refused": 400, "not_found": 404, "context_too_long": 400, "down": 503}
"""HTTP status by the kind of a provider's error; other kinds have that of `provider`."""
RETRYABLE = {"busy", "storage"}
RETRY_AFTER = 2


@value
class Problem:
    """An error as it is sent to a client."""

    status: int
    code: str
    """In kebab case: `session-busy`, `not-found`."""
    detail: str
    """What happened, what was kept, and what to do."""
    param: str | None = None
    """The parameter of the request that is wrong."""
    is_retryable: bool = False


class HttpProblem(Exception):
    """Ends a request with a problem."""

    def __init__(
        self, status: int, code: str, detail: str, param: str | None = None, *, is_retryable: bool = False
    ) -> None:
        super().__init__(detail)
        self.problem = Problem(status, code, detail, param, is_retryable)


def of_error(error: Exception) -> Problem:
    """The problem of an exception. The text of one that is not bough's own stays on the server."""
    if isinstance(error, HttpProblem):
        return error.problem
    if not isinstance(error, BoughError):
        detail = f"This is a bug in bough ({type(error).__name__}); the log of the server has its details."
        return Problem(500, "internal-error", detail)
    code = f"provider_{error.kind}" if isinstance(error, ProviderError) else error.code
    busy = error.code in RETRYABLE or (isinstance(error, ProviderError) and error.kind in ("rate_limit", "down"))
    return Problem(status_of(error), code.replace("_", "-"), str(error), is_retryable=busy)


def status_of(error: BoughError) -> int:
    """The HTTP status of an error, or of its nearest parent class that has one."""
    if isinstance(error, ProviderError) and error.kind in PROVIDER_STATUSES:
        return PROVIDER_STATUSES[error.kind]
    for cls in type(error).__mro__:
        if (code := getattr(cls, "code", None)) in STATUSES:
            return STATUSES[code]
    return STATUSES["error"]


def as_problem_json(problem: Problem, request_id: str) -> Response:
    """RFC 9457, as `/api/v1` answers."""
    body = {
        "type": f"about:blank#{problem.code}",
        "title": problem.code.replace("-", " ").capitalize(),
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "retryable": problem.is_retryable,
        "request_id": request_id,
    } | ({"param": problem.param} if problem.param else {})
    return _response(problem, body, "application/problem+json")


OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}


def as_openai_error(problem: Problem, request_id: str) -> Response:  # noqa: ARG001
    """The envelope of OpenAI's API, as `/v1` answers. A conflict is 400: clients would repeat the request after 409."""
    status = 400 if problem.status in (409, 410, 422) else problem.status
    kind = OPENAI_TYPES.get(status, "server_error" if status >= 500 else "invalid_request_error")
    kind = "invalid_request_error" if status == 404 else kind
    error = {"message": problem.detail, "type": kind, "param": problem.param, "code": problem.code.replace("-", "_")}
    return _response(problem, {"error": error}, "application/json", status)


ANTHROPIC_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
                   404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
                   503: "overloaded_error"}  # fmt: skip


def as_anthropic_error(problem: Problem, request_id: str) -> Response:
    """The envelope of Anthropic's API, as `/v1/messages` answers."""
    status = 400 if problem.status in (409, 410, 422) else problem.status
    error = {"type": ANTHROPIC_TYPES.get(status, "api_error"), "message": problem.detail}
    return _response(problem, {"type": "error", "error": error, "request_id": request_id}, "application/json", status)


def as_text(problem: Problem, request_id: str) -> Response:
    """Plain text, for areas that people and probes read."""
    return Response(
        f"{problem.detail}\n({problem.code}, request {request_id})\n", problem.status, media_type="text/plain"
    )


def as_html(problem: Problem, request_id: str) -> Response:
    """A small document, as the page answers before anybody is let in."""
    way = '<p><a href="/signin">Sign in</a></p>' if problem.status == 401 else ""
    return Response(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{escape(problem.code)}</title><link rel="stylesheet" '
        f'href="/static/signin.css"></head><body><main><h1>bough</h1><p>{escape(problem.detail)}</p>{way}'
        f"<p><small>{escape(problem.code)}, request {request_id}</small></p></main></body></html>",
        problem.status, media_type="text/html",
    )  # fmt: skip


def _response(problem: Problem, body: dict[str, Any], media_type: str, status: int | None = None) -> Response:
    headers = {"Retry-After": str(RETRY_AFTER)} if problem.is_retryable else {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    text = json.dumps(body, ensure_ascii=True)
    return Response(text, status or problem.status, headers, media_type)
