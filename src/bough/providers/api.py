"""Interface of an HTTP API: the request body, and the meaning of stream events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from bough.model import Json
from bough.model.values import value
from bough.providers.types import Piece, Tool


@value
class Request:
    """A request, independent of the API."""

    model: str
    messages: Json
    instructions: str | None = None
    tools: Sequence[Tool] = ()
    max_tokens: int | None = None


class Api(Protocol):
    """One HTTP API for streamed replies."""

    format: str
    flavor: str
    """Name of the API in the price list."""
    path: str
    """Path of requests, below the base URL."""

    def headers(self, key: str | None) -> dict[str, str]:
        """Headers of every request, with the key."""

    def body(self, request: Request) -> dict[str, Json]:
        """JSON body of a request. Fields that are None are not sent."""

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        """The pieces of an event that can be displayed."""

    def error(self, event: dict[str, Json]) -> Json:
        """The error in an event, or None."""

    def ends(self, event: dict[str, Json]) -> bool:
        """Whether the reply is complete after this event, even if the stream stops here."""


def dicts(items: Json) -> Iterator[dict[str, Json]]:
    """The objects of a list; none if it is not a list."""
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def function_tools(request: Request) -> list[dict[str, Json]]:
    """The tools of a request as Chat Completions names them, and others after it."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in request.tools
    ]


def piece(kind: str, text: Json, place: Json = None, call_id: Json = None) -> Iterator[Piece]:
    """One piece, or none if the text is empty or missing."""
    if isinstance(text, str) and text:
        at, id = place if isinstance(place, int) else None, call_id if isinstance(call_id, str) else None
        yield Piece(kind, text, at, id)  # type: ignore[arg-type]
