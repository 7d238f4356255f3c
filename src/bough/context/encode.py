"""Encode a repaired dialog as a request that the provider accepts, whatever is in it.

First as it came, with what the provider would refuse mended. If a rule is still broken, the turns that break one are
sent as plain text, which no provider refuses, and a loss says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.errors import FormatError
from bough.formats.encoder import EMPTY, refuse
from bough.formats.media import describe
from bough.formats.types import Encoded, Format, Loss, Recipient, Violation
from bough.model import Block, Media, Message, Other, Text, Thinking, ToolCall, ToolResult

_UNREADABLE = (FormatError, TypeError, ValueError, LookupError, AttributeError)
"""Errors that a malformed item of a provider raises while it is encoded or checked."""


def encode(messages: Sequence[Message], wire: Format, target: Recipient, strict: bool) -> Encoded:
    """The request. Raises `FormatError` if the provider would refuse even plain text, or if `strict` and something is
    lost."""
    encoded, broken = attempt(messages, wire, target)
    if broken:
        encoded = as_text(messages, wire, target, broken)
    if strict:
        refuse(wire.name, encoded.losses)
    return encoded


def attempt(messages: Sequence[Message], wire: Format, target: Recipient) -> tuple[Encoded, list[Violation]]:
    """The request, and the rules that it breaks."""
    try:
        mended = wire.mend(messages, target)
        encoded = wire.encode(mended.messages)
        broken = wire.check(encoded.payload, mended.model)
    except _UNREADABLE as error:
        return Encoded(None), [Violation(0, f"{type(error).__name__}: {error}")]
    return Encoded(encoded.payload, (*mended.losses, *encoded.losses)), broken


def as_text(messages: Sequence[Message], wire: Format, target: Recipient, broken: Sequence[Violation]) -> Encoded:
    """The request with the turns that break a rule as plain text; all of them, if no turn does alone."""
    turns = split(messages)
    refused = [bool(attempt(turn, wire, target)[1]) for turn in turns]
    for flat in (refused, [True] * len(turns)):
        sent: list[Message] = []
        losses: list[Loss] = []
        for turn, is_flat in zip(turns, flat, strict=True):
            if is_flat:
                losses.append(Loss("turn_as_text", "; ".join(one.detail for one in broken[:3]), len(sent)))
            sent += flattened(turn) if is_flat else turn
        encoded, left = attempt(sent, wire, target)
        if not left:
            return Encoded(encoded.payload, (*losses, *encoded.losses))
    problems = "; ".join(f"rule {violation.rule}: {violation.detail}" for violation in left[:3])
    raise FormatError(
        f"{wire.name} refuses this dialog even as plain text ({problems}). Nothing was changed; fork before the part"
        " that it refuses, or compact the session."
    )


def split(messages: Sequence[Message]) -> list[list[Message]]:
    """The messages turn by turn."""
    turns: list[list[Message]] = []
    for message in messages:
        if not turns or (message.role == "user" and turns[-1][-1].role != "user"):
            turns.append([])
        turns[-1].append(message)
    return turns


def flattened(turn: Sequence[Message]) -> list[Message]:
    """A turn as text of the user and the assistant, in turn."""
    lines: list[tuple[str, list[str]]] = []
    for message in turn:
        role = "assistant" if message.role == "assistant" else "user"
        if not lines or lines[-1][0] != role:
            lines.append((role, []))
        lines[-1][1].extend(line for block in message.blocks if (line := line_of(block)).strip())
    return [
        Message("assistant" if role == "assistant" else "user", (Text("\n\n".join(texts) or EMPTY),))
        for role, texts in lines
    ]


def line_of(block: Block) -> str:
    match block:
        case Text():
            return block.text
        case ToolCall():
            return f"[Called {block.name}: {block.arguments}]"
        case ToolResult():
            content = "\n".join(line_of(part) for part in block.content)
            return f"[{'Error' if block.error else 'Result'}: {content}]"
        case Media():
            return describe(block)
        case Other():
            return f"[{block.type}]"
        case Thinking():
            return ""
