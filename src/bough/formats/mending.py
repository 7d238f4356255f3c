"""Make a provider's own items acceptable to it, message by message.

What a provider sends is kept verbatim, and some of it the same provider refuses: blank text, empty messages, fields
that only replies have. `Mender` walks the messages of a request; each format has a function that changes or removes one
block. Nothing in the store changes. Every change is a loss with a code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import is_
from typing import TypeAlias

from bough.formats.content import UNREADABLE
from bough.formats.encoder import own
from bough.formats.types import Loss, LossCode, Mended
from bough.model import Block, Json, Message, Other, Text, Thinking, ToolCall, ToolResult
from bough.model.values import replace


class Mender:
    """State of one call of `mend`: the position, and the losses."""

    def __init__(self, family: str) -> None:
        self.family = family
        self.losses: list[Loss] = []
        self.message: Message
        self.place = 0
        self.block: int | None = None

    def lose(self, code: LossCode, detail: str) -> None:
        self.losses.append(Loss(code, detail, self.place, self.block))

    def own(self, block: Block) -> dict[str, Json]:
        """The provider's own item of a block; empty for a block of another family."""
        item = own(block.raw, self.family)
        return item if isinstance(item, dict) else {}

    def with_item(self, block: Block, item: Json) -> Block:
        """The block with another item of this family."""
        return replace(block, raw={**block.raw, self.family: item})

    def without(self, block: Block, item: dict[str, Json], keys: Iterable[str]) -> Block:
        """The block without these fields of its item."""
        present = [key for key in keys if key in item]
        if not present:
            return block
        self.lose("reply_only_field", f"{', '.join(present)} of {item.get('type') or type(block).__name__}")
        return self.with_item(block, {key: value for key, value in item.items() if key not in present})

    def run(
        self, messages: Sequence[Message], mend_block: MendBlock, mend_message: MendMessage | None = None
    ) -> Mended:
        """The messages with every block mended, then every message.

        A message left without blocks loses its envelope, so that the encoder treats it as any empty message.
        """
        mended = []
        for place, message in enumerate(messages):
            self.place, self.message = place, message
            kept = self._mended(message, mend_block)
            mended.append(mend_message(kept, self) if mend_message else without_empty_shell(kept, self))
        return Mended(tuple(mended), tuple(self.losses))

    def _mended(self, message: Message, mend_block: MendBlock) -> Message:
        blocks: list[Block] = []
        for position, block in enumerate(message.blocks):
            self.block = position
            if isinstance(block, Other) and isinstance(block.raw, dict) and UNREADABLE in block.raw:
                self.lose("dropped_other", f"a malformed block of type {block.type!r}")
            elif (kept := mend_block(block, self)) is not None:
                blocks.append(kept)
        self.block = None
        same = len(blocks) == len(message.blocks) and all(map(is_, blocks, message.blocks))
        return message if same else replace(message, blocks=tuple(blocks))


MendBlock: TypeAlias = Callable[[Block, Mender], Block | None]
"""Returns the block, a changed one, or None to leave it out."""
MendMessage: TypeAlias = Callable[[Message, Mender], Message]


def without_empty_shell(message: Message, mender: Mender) -> Message:
    """The message, without the envelope of this family if it has no blocks that are sent."""
    is_sent = any(mender.own(block) or not isinstance(block, (Thinking, Other)) for block in message.blocks)
    return message if is_sent else without_shell(message, mender.family)


def without_shell(message: Message, family: str) -> Message:
    """The message without the envelope of this family: it is encoded as one of another provider."""
    if not isinstance(message.envelope, dict) or family not in message.envelope:
        return message
    return replace(message, envelope={key: value for key, value in message.envelope.items() if key != family} or None)


def is_blank(block: Block) -> bool:
    """Whether a block is text without a visible character."""
    return isinstance(block, Text) and not block.text.strip()


def drop_blank(block: Block, mender: Mender) -> Block | None:
    """Leave a blank block out; a loss if the provider sent it so."""
    if mender.own(block):
        mender.lose("blank_dropped", "a blank text")
    return None


def limit_markers(messages: Sequence[Message], mender: Mender, key: str, most: int) -> tuple[Message, ...]:
    """The messages with only the newest `most` cache markers: a provider refuses more than that."""
    kept: list[Message] = []
    left = most
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        blocks = list(message.blocks)
        for position in range(len(blocks) - 1, -1, -1):
            item = mender.own(blocks[position])
            count = _markers(item, key)
            if count > left:
                mender.losses.append(Loss("dropped_cache_marker", key, place, position))
                blocks[position] = mender.with_item(blocks[position], _unmarked(item, key))
            left = max(0, left - count)
        kept.append(replace(message, blocks=tuple(blocks)) if blocks != list(message.blocks) else message)
    return tuple(reversed(kept))


def _markers(item: dict[str, Json], key: str) -> int:
    content = item.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return sum(1 for part in (item, *parts) if part.get(key))


def _unmarked(item: dict[str, Json], key: str) -> dict[str, Json]:
    plain = {name: value for name, value in item.items() if name != key}
    if isinstance(plain.get("content"), list):
        plain["content"] = [
            {name: value for name, value in part.items() if name != key} if isinstance(part, dict) else part
            for part in plain["content"]
        ]
    return plain


def with_item_id(
    block: Block, mender: Mender, call_key: str, result_key: str, inside: bool = False, added: bool = False
) -> Block:
    """A call or result with its id in its item, if the provider's own item has an empty one, or none and it is `added`.

    The id is at `call_key` or `result_key` of the item, or, if `inside`, of the item's only value.
    """
    item = mender.own(block)
    if not item or not isinstance(block, (ToolCall, ToolResult)):
        return block
    outer = next(iter(item)) if inside else None
    body = item[outer] if outer is not None else item
    key = call_key if isinstance(block, ToolCall) else result_key
    if body.get(key, None if added else ...) not in (None, "") or not block.call_id:
        return block
    mender.lose("field_supplied", f"the id of {block.name if isinstance(block, ToolCall) else 'a result'!r}")
    filled = {**body, key: block.call_id}
    return mender.with_item(block, filled if outer is None else {**item, outer: filled})


def filled_result(block: Block, mender: Mender) -> Block:
    """A failed result without content, without its item, so that the encoder gives it some."""
    if isinstance(block, ToolResult) and block.error and not block.content and mender.own(block):
        mender.lose("blank_replaced", f"the empty result of {block.call_id!r}")
        return replace(block, raw=None)
    return block
