"""Types that all formats share: results of decoding and encoding, losses and violations.

The provider's own JSON is kept in the same way in every format:

- a block's `raw` is `{family: item}`: the provider's item, part or tool message, verbatim, under the name of its
  format (`{"anthropic": {"type": "text", "text": "hi", "cache_control": …}}`);
- a message's `envelope` is `{family: shell}`: the wire message with its content emptied (a string becomes `""`, a list
  becomes `[]`), which preserves unknown fields, spellings and the shape of the content. `{family: "joined"}` marks
  a message that was part of the same wire message as the one before it.

A format encodes an item of its own family verbatim, and any other block from the block's own fields. Code that changes
a block must therefore clear its `raw`; code that merges a message with its neighbour must clear its `envelope`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, get_args

from bough.formats.servers import ServerDialect
from bough.model import Json, Message, Usage

LossCode: TypeAlias = Literal[
    "dropped_thinking",  # reasoning of another model, which the target would refuse
    "dropped_signature",  # a signature that only its own provider can verify
    "dropped_citations",
    "dropped_cache_marker",
    "dropped_other",  # a block of a type that only its own provider has
    "media_unsupported",  # media replaced by a line of text that describes it
    "tool_image_flattened",  # like media_unsupported, inside a tool result
    "error_flag_prefixed",  # a failed result is marked by the prefix "Error: "
    "order_flattened",  # text after a tool call was moved before it
    "arguments_wrapped",  # arguments that are not a JSON object were put into one, under "input"
    "renamed_tool",  # a tool name that did not match the target's pattern
    "system_as_user",  # a system message in mid-conversation became a user message
    "blank_replaced",  # an empty message became "(empty)", because the target refuses empty ones
    "blank_dropped",  # a blank block of the provider's own, which it refuses
    "reply_only_field",  # a field that the provider sends and does not take back
    "field_supplied",  # a field that the provider left out and requires: a call's id, arguments or signature
    "orphan_dropped",  # a result of which the dialog has no call, or a second one
    "turn_as_text",  # what no other means could make acceptable, as plain text
]
LOSS_CODES: tuple[LossCode, ...] = get_args(LossCode)
HARMLESS: frozenset[LossCode] = frozenset({"blank_dropped", "reply_only_field", "field_supplied"})
"""Losses without content, which `strict` allows."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that the target format cannot express. `message` and `block` are positions in the encoded messages."""

    code: LossCode
    detail: str
    message: int
    block: int | None = None


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that the provider would refuse. `rule` is a number in docs/formats.md."""

    rule: int
    detail: str
    index: int | None = None
    """Position in the list of messages, items or contents."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Metadata of a reply. For a request, only the envelope is set."""

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
    """Result of `Format.decode`."""

    messages: tuple[Message, ...]
    provenance: Provenance = field(default_factory=Provenance)


@dataclass(frozen=True, slots=True)
class Encoded:
    """Result of `Format.encode`."""

    payload: Json
    losses: tuple[Loss, ...] = ()


@dataclass(frozen=True, slots=True)
class Recipient:
    """The reader of a request, as far as it is known."""

    model: str | None = None
    server: ServerDialect | None = None


ANYONE = Recipient()
"""A recipient of whom nothing is known."""


@dataclass(frozen=True, slots=True)
class Mended:
    """Result of `Format.mend`: as many messages as before."""

    messages: tuple[Message, ...]
    losses: tuple[Loss, ...] = ()
    model: str | None = None
    """The model that the messages were mended for, if it decides on a rule."""


class Accumulator(Protocol):
    """Assembles the reply from the events of a stream."""

    def feed(self, event: Json) -> None:
        """Add one event, a dict or an SDK object. Raises `FormatError` if it is not an event of this provider."""

    def reply(self) -> dict[str, Json]:
        """The reply so far, as a call without streaming returns it."""


class Format(Protocol):
    """The wire format of one provider."""

    name: str

    def decode(self, payload: Json) -> Decoded:
        """Decode a request's list, a whole request, one wire message or a reply. Raises `FormatError`."""

    def encode(self, messages: Sequence[Message], strict: bool = False) -> Encoded:
        """Encode messages as the list of a request. Raises `FormatError` if `strict` and something is lost."""

    def mend(self, messages: Sequence[Message], target: Recipient = ANYONE) -> Mended:
        """The messages with what the provider sent and would refuse changed or left out. Never raises."""

    def check(self, payload: Json, model: str | None = None) -> list[Violation]:
        """Violations in a request's list, or in a whole request, which allows more checks. Raises `FormatError`.

        `model` is the model that a list is meant for.
        """

    def accumulator(self) -> Accumulator:
        """A new accumulator for one streamed reply."""
