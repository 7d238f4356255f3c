"""Changes to Gemini's own parts that it would refuse in a request."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.gemini.decode import field
from bough.formats.gemini.encode import UNSIGNED
from bough.formats.gemini.rules import needs_signatures
from bough.formats.mending import Mender, drop_blank
from bough.formats.types import Mended, Recipient
from bough.model import Block, Json, Message, Text, ToolCall


def mend(messages: Sequence[Message], target: Recipient) -> Mended:
    mender = Mender("gemini")
    model = target.model or model_of(messages)
    signs = needs_signatures(model, _is_signed(messages, mender))
    start = max((place for place, message in enumerate(messages) if message.role == "user"), default=0)

    def mend_block(block: Block, mender: Mender) -> Block | None:
        item = mender.own(block)
        if isinstance(block, Text) and not block.text and not field(item, "thoughtSignature"):
            return drop_blank(block, mender)
        if isinstance(block, ToolCall) and item and signs and mender.place >= start and _is_unsigned(block, mender):
            mender.lose("field_supplied", f"a placeholder for the signature of {block.name!r}")
            return mender.with_item(block, {**item, "thoughtSignature": UNSIGNED})
        return block

    mended = mender.run(messages, mend_block)
    return Mended(mended.messages, mended.losses, model)


def model_of(messages: Sequence[Message]) -> str | None:
    """The model of the newest reply that names it."""
    for message in reversed(messages):
        reply: Json = message.envelope.get("reply") if isinstance(message.envelope, dict) else None
        model = (reply.get("modelVersion") or reply.get("model")) if isinstance(reply, dict) else None
        if isinstance(model, str) and "gemini" in model:
            return model
    return None


def _is_signed(messages: Sequence[Message], mender: Mender) -> bool:
    """Whether any call is signed, as all calls are in the encoded request that were made by another model."""
    calls = [block for message in messages for block in message.calls]
    return any(field(mender.own(call), "thoughtSignature") or not mender.own(call) for call in calls)


def _is_unsigned(block: ToolCall, mender: Mender) -> bool:
    """Whether this is the first call of its message, which has the signature for all, and has none."""
    return mender.message.calls[0] is block and not field(mender.own(block), "thoughtSignature")
