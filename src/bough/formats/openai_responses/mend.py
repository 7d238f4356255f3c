"""Changes to items of the Responses API that it would refuse in a request."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from bough.formats.mending import Mender, limit_markers, with_item_id, without_empty_shell
from bough.formats.openai_chat.rules import MAX_CACHE_MARKERS
from bough.formats.openai_responses.calls import FAMILY
from bough.formats.openai_responses.rules import is_bound
from bough.formats.types import Mended, Recipient
from bough.model import Block, Json, Message, Thinking
from bough.model.values import replace

REPLY_ONLY = ("parsed", "parsed_arguments")
"""Fields that an SDK adds to a parsed reply, and the API refuses."""


def mend(messages: Sequence[Message], target: Recipient) -> Mended:  # noqa: ARG001
    mender = Mender(FAMILY)
    mended = mender.run(messages, _mend_block, _mend_message)
    limited = limit_markers(mended.messages, mender, "prompt_cache_breakpoint", MAX_CACHE_MARKERS)
    return Mended(limited, tuple(mender.losses))


def _mend_block(block: Block, mender: Mender) -> Block:
    block = with_item_id(block, mender, "call_id", "call_id")
    item = mender.own(block)
    content = item.get("content")
    if isinstance(content, list) and any(isinstance(part, dict) and "parsed" in part for part in content):
        mender.lose("reply_only_field", "parsed of a text")
        return mender.with_item(block, {**item, "content": [_unparsed(part) for part in content]})
    return mender.without(block, item, REPLY_ONLY)


def _unparsed(part: Json) -> Json:
    return {key: value for key, value in part.items() if key != "parsed"} if isinstance(part, dict) else part


def _mend_message(message: Message, mender: Mender) -> Message:
    """Leave out reasoning whose item was changed or did not follow: it is bound to that item."""
    if message.role != "assistant":
        return without_empty_shell(message, mender) if message.role != "user" else message
    blocks: list[Block | None] = [*message.blocks, None]
    # From the end, because a reasoning item that is left out is no longer the item that follows another one.
    kept: list[Block] = []
    following: Block | None = None
    for block, _ in reversed(list(pairwise(blocks))):
        if block is None:
            continue
        item = mender.own(block)
        is_reasoning = isinstance(block, Thinking) and item.get("type") == "reasoning"
        if is_reasoning and not _is_followed(item, following, mender):
            mender.lose("dropped_thinking", "reasoning without the item that followed it")
            continue
        if isinstance(block, Thinking) and not item:
            kept.append(block)  # of another family: the encoder leaves it out
            continue
        kept.append(block)
        following = block
    if len(kept) == len(message.blocks):
        return without_empty_shell(message, mender)
    return without_empty_shell(replace(message, blocks=tuple(reversed(kept))), mender)


def _is_followed(item: dict[str, Json], following: Block | None, mender: Mender) -> bool:
    if following is None:
        return False
    after = mender.own(following) or {"role": "assistant", "content": "", "type": _foreign_type(following)}
    return is_bound(item, after)


def _foreign_type(block: Block) -> str:
    """The type of the item that the encoder makes of a block of another family."""
    return "function_call" if block.tag == "tool_call" else "message"
