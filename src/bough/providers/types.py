"""What every provider is: someone who answers a request that `context` has built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from bough.model import Json, Tool, Usage
from bough.model.values import value

__all__ = ["Answer", "Piece", "PieceKind", "Provider", "Tool"]

PieceKind: TypeAlias = Literal["text", "thinking", "call"]


@value
class Piece:
    """What a stream has just brought, to be shown: a few words, or the name of a tool that is being called."""

    kind: PieceKind
    text: str


class Answer(Protocol):
    """A reply that is arriving. Iterating it gives the pieces; closing it early stops the model."""

    def __iter__(self) -> Iterator[Piece]:
        """The pieces as they come. Raises `ProviderError` when the model stops answering; what came stays."""

    def reply(self) -> dict[str, Json]:
        """The reply so far, in the provider's own format, as `turn.add` takes it; whole once the pieces have ended."""

    @property
    def request_id(self) -> str | None:
        """What the provider calls this request."""

    @property
    def first_token_at(self) -> int | None:
        """When the first piece came, in microseconds since 1970."""

    @property
    def usage(self) -> Usage:
        """Tokens of the reply so far as the provider counted them, and its cost where the price is known."""

    def close(self) -> None:
        """Stops the model and lets the connection go. Safe to call at any time, and twice."""


class Provider(Protocol):
    """Who answers. It knows its key and its address, and never tells the key."""

    name: str
    """`openai`, `anthropic`, `local`, `scripted`, or a name from the configuration."""
    model: str
    format: str
    """The format of `bough.formats` that it speaks."""

    @property
    def window(self) -> int | None:
        """How many tokens its context holds, where that is known."""

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> Answer:
        """Sends a request whose `messages` are the payload of a `Context` in this provider's format.

        `options` go into the request as they are (temperature and the like). Raises `ProviderError`.
        """

    def close(self) -> None:
        """Lets connections and weights go."""
