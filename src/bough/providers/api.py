"""What an HTTP API of a model is made of: how a request looks, and what the events of its stream say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from bough.model import Json
from bough.model.values import value
from bough.providers.types import Piece, Tool


@value
class Request:
    """What is asked of a model, whatever API it has."""

    model: str
    messages: Json
    instructions: str | None = None
    tools: Sequence[Tool] = ()
    max_tokens: int | None = None


class Api(Protocol):
    """One way to ask for a streamed reply."""

    format: str
    flavor: str
    """What the price list calls it."""
    path: str
    """Where requests go, below the provider's base URL."""

    def headers(self, key: str | None) -> dict[str, str]:
        """How a key is shown, and what else every request says."""

    def body(self, request: Request) -> dict[str, Json]:
        """The JSON of a request. What is None is left out of it."""

    def pieces(self, event: dict[str, Json]) -> Iterator[Piece]:
        """What an event brings that can be shown."""

    def error(self, event: dict[str, Json]) -> Json:
        """The error that an event reports; None when it reports none."""

    def ends(self, event: dict[str, Json]) -> bool:
        """Whether nothing of the reply is missing after this event, should the stream stop here."""


def dicts(items: Json) -> Iterator[dict[str, Json]]:
    """The objects of a list; nothing of anything else."""
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, dict))


def piece(kind: str, text: Json) -> Iterator[Piece]:
    """A piece, if there are words in it."""
    if isinstance(text, str) and text:
        yield Piece(kind, text)  # type: ignore[arg-type]
