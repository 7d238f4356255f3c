"""Errors of the API, with the codes and parameters that OpenAI's clients look at."""

from __future__ import annotations

from bough.server.problems import HttpProblem


def invalid(param: str | None, detail: str, code: str = "invalid-value") -> HttpProblem:
    """A request that cannot be done as it is."""
    return HttpProblem(400, code, detail, param)


def not_found(what: str, id: str) -> HttpProblem:
    """There is no such response, conversation, item or completion."""
    return HttpProblem(404, "not-found", f"{what} with id {id!r} not found.")


def locked() -> HttpProblem:
    """A conversation in which a response is being written. It is 400: clients repeat a request after 409."""
    detail = "Another process is currently operating on this conversation. Please retry in a few seconds."
    return HttpProblem(400, "conversation-locked", detail, "conversation")
