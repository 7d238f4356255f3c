"""Changes to Bedrock's own blocks that it would refuse in a request."""

from __future__ import annotations

from collections.abc import Sequence

from bough.formats.mending import Mender, drop_blank, filled_result, is_blank, with_item_id, without_shell
from bough.formats.types import Mended, Recipient
from bough.model import Block, Json, Media, Message, Other
from bough.model.values import replace

MEDIA = ("image", "document", "video", "audio")


def mend(messages: Sequence[Message], target: Recipient) -> Mended:  # noqa: ARG001
    mended = Mender("bedrock").run(messages, _mend_block)
    return Mended(_joined(mended.messages), mended.losses)


def _joined(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, without the envelope after one of the same role: the encoder makes one message of both."""
    joined: list[Message] = []
    for message in messages:
        before = joined[-1] if joined else None
        same = before is not None and (before.role == "assistant") == (message.role == "assistant")
        joined.append(without_shell(message, "bedrock") if same and message.role != "system" else message)
    return tuple(joined)


def _mend_block(block: Block, mender: Mender) -> Block | None:
    if is_blank(block):
        return drop_blank(block, mender)
    block = with_item_id(block, mender, "toolUseId", "toolUseId", inside=True)
    item = mender.own(block)
    if isinstance(call := item.get("toolUse"), dict) and call.get("type") == "tool_use":
        # Converse answers with this type, and takes back only the type of its own tools.
        mender.lose("reply_only_field", "type of toolUse")
        return mender.with_item(block, {**item, "toolUse": _untyped(call)})
    if isinstance(block, Media) and item and (mender.message.role != "user" or _stands_alone(mender)):
        return replace(block, raw=None)  # the encoder describes it, or adds the text that it needs
    if isinstance(block, Other) and item.keys() & set(MEDIA) and mender.message.role != "user":
        mender.lose("media_unsupported", f"{block.type} in a reply")
        return None
    return filled_result(block, mender)


def _untyped(call: dict[str, Json]) -> dict[str, Json]:
    return {key: value for key, value in call.items() if key != "type"}


def _stands_alone(mender: Mender) -> bool:
    """Whether the message has a document and no text, which Bedrock refuses."""
    items = [mender.own(block) for block in mender.message.blocks]
    return any("document" in item for item in items) and not any("text" in item for item in items)
