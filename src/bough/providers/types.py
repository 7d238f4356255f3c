"""Interface of providers, which answer requests that `bough.context` builds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, Protocol, TypeAlias

from bough.model import Block, Json, Text, Thinking, Tool, ToolCall, Usage
from bough.model.values import value

__all__ = ["Answer", "Piece", "PieceKind", "Provider", "Tool", "pieces_of"]

PieceKind: TypeAlias = Literal["text", "thinking", "call", "arguments"]


@value
class Piece:
    """A piece of a streamed answer: some text, the name of a tool that is called, or some of its arguments."""

    kind: PieceKind
    text: str
    place: int | None = None
    """The position of the block or call that it belongs to, if the provider says it."""
    call_id: str | None = None
    """Of a call."""


def pieces_of(block: Block, place: int) -> list[Piece]:
    """The pieces of a block that came whole."""
    match block:
        case Text() if block.text:
            return [Piece("text", block.text, place)]
        case Thinking() if block.text:
            return [Piece("thinking", block.text, place)]
        case ToolCall():
            return [Piece("call", block.name, place, block.call_id), Piece("arguments", block.arguments, place)]
    return []


class Answer(Protocol):
    """A streamed reply. Iterating gives the pieces; closing it early stops the model."""

    def __iter__(self) -> Iterator[Piece]:
        """The pieces as they arrive. Raises `ProviderError` if the stream breaks; the received part is kept."""

    def reply(self) -> dict[str, Json]:
        """The reply so far, in the provider's format, for `turn.add`. Complete after the last piece."""

    @property
    def request_id(self) -> str | None:
        """The provider's id of this request."""

    @property
    def first_token_at(self) -> int | None:
        """Time of the first piece, in microseconds since 1970."""

    @property
    def usage(self) -> Usage:
        """Tokens of the reply so far, as counted by the provider, and its cost if the price is known."""

    def close(self) -> None:
        """Stop the model and close the connection. Safe to call at any time, and twice."""


class Provider(Protocol):
    """A model provider. It has an address and a key, and never shows the key."""

    name: str
    """`openai`, `anthropic`, `local`, `scripted`, or a name from the configuration."""
    model: str
    format: str
    """Its format in `bough.formats`."""

    @property
    def window(self) -> int | None:
        """Context window in tokens, if known."""

    def ask(
        self,
        messages: Json,
        *,
        instructions: str | None = None,
        tools: Sequence[Tool] = (),
        max_tokens: int | None = None,
        options: dict[str, Json] | None = None,
    ) -> Answer:
        """Send a request, whose `messages` are the payload of a `Context` in this provider's format.

        `options` are added to the request unchanged (temperature and the like). Raises `ProviderError`.
        """

    def close(self) -> None:
        """Release connections and models."""
