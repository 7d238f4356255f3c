"""What every format speaks of: what it read, what it wrote, what was lost and what a provider would refuse.

How a provider's JSON is kept, in every format alike:

- a block's `raw` is `{family: item}`: the provider's own item, part or tool message, verbatim, under the name of the
  format it came in (`{"anthropic": {"type": "text", "text": "hi", "cache_control": …}}`);
- a message's `envelope` is `{family: shell}`: the wire message with its content emptied (a string becomes `""`, a list
  becomes `[]`), so that unknown fields, spellings and the shape of the content come back. `{family: "joined"}` says
  that the message was part of the same wire message as the one before it.

A format that finds its own family gives the item back as it is; any other format renders the block's own fields.
Whoever changes a block therefore clears its `raw`, and whoever wants a message merged with its neighbour clears its
`envelope`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, get_args

from bough.model import Json, Message, Usage

LossCode: TypeAlias = Literal[
    "dropped_thinking",  # another model's reasoning, which the target would refuse
    "dropped_signature",  # a proof that only the provider who made it can read
    "dropped_citations",
    "dropped_cache_marker",
    "dropped_other",  # a block that only its own provider understands
    "media_unsupported",  # replaced by a line of text that describes it
    "tool_image_flattened",  # the same, inside a tool's result
    "error_flag_prefixed",  # a failed result is told by the words "Error: "
    "order_flattened",  # words that came after a tool call now stand before it
    "arguments_wrapped",  # arguments that are no JSON object went into one, under "input"
    "renamed_tool",  # a tool's name did not fit the target's pattern
    "system_as_user",  # a note in mid-conversation is told by the user
    "blank_replaced",  # an empty message got a word, because the target refuses empty ones
]
LOSS_CODES: tuple[LossCode, ...] = get_args(LossCode)


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the target format cannot say. `message` and `block` are positions in what was encoded."""

    code: LossCode
    detail: str
    message: int
    block: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that the provider would refuse, by the numbers of the rules in docs/formats.md."""

    rule: int
    detail: str
    index: int | None = None
    """The position in the list of messages, items or contents."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """How a reply came about. Of a request there is only the envelope."""

    model: str | None = None
    provider: str | None = None
    usage: Usage = field(default_factory=Usage)
    response_id: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None
    envelope: Json = None
    """The payload's top-level fields, verbatim, without the content that became messages."""


@dataclass(frozen=True, slots=True)
class Decoded:
    messages: tuple[Message, ...]
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True, slots=True)
class Encoded:
    payload: Json
    losses: tuple[Loss, ...] = ()


class Accumulator(Protocol):
    """Takes a provider's stream, event by event."""

    def feed(self, event: Json) -> None:
        """Takes one event, a dict or an SDK's object. Raises `FormatError` when it is not an event of this provider."""

    def reply(self) -> dict[str, Json]:
        """The reply so far, as the call without streaming would have returned it."""


class Format(Protocol):
    """The wire shape of one provider."""

    name: str

    def decode(self, payload: Json) -> Decoded:
        """Messages out of a request's list, one wire message or a whole reply. Raises `FormatError`."""

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        """The list that goes into a request, and what it cannot say. Raises `FormatError` if strict and lossy."""

    def check(self, payload: Json) -> list[Violation]:
        """What the provider would refuse: in a request's list, or in a whole request when more is to be checked."""

    def accumulator(self) -> Accumulator:
        """A fresh accumulator for one streamed reply."""
