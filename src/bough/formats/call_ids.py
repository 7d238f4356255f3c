"""Ids for tool calls that a provider sends without one: Gemini, and some servers of every family.

An id is a hash of the call, so that a call has the same id in a reply and in the next request. A result without an id
gets the id of the first open call of its function, as Gemini pairs them, or of any function if it names none.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from bough.model import Block, Message, ToolCall, ToolResult
from bough.model.values import replace


def with_call_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """The messages with an id on every call and result."""
    named = []
    open_calls: list[ToolCall] = []
    for message in messages:
        blocks = message.blocks
        if message.role == "assistant":
            blocks = with_ids(blocks)
            open_calls = [block for block in blocks if isinstance(block, ToolCall)]
        elif message.role == "tool_result":
            blocks = tuple(_pair(block, open_calls) for block in blocks)
        named.append(replace(message, blocks=blocks))
    return tuple(named)


def with_missing_ids(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Like `with_call_ids`, if any call or result has an empty id; else the messages as they are."""
    kept = tuple(messages)
    blocks = (block for message in kept for block in message.blocks)
    lacks = any(isinstance(block, (ToolCall, ToolResult)) and not block.call_id for block in blocks)
    return with_call_ids(kept) if lacks else kept


def with_ids(blocks: Iterable[Block]) -> tuple[Block, ...]:
    """The blocks with an id on every call."""
    taken: set[str] = set()
    named: list[Block] = []
    for block in blocks:
        if isinstance(block, ToolCall):
            call = replace(block, call_id=block.call_id or _new_id(block, taken))
            taken.add(call.call_id)
            named.append(call)
        else:
            named.append(block)
    return tuple(named)


def _new_id(call: ToolCall, taken: set[str]) -> str:
    content = f"{call.name} {call.arguments}".encode("utf-8", "surrogatepass")
    call_id = first = f"call_{blake2b(content, digest_size=6).hexdigest()}"
    again = 1
    while call_id in taken:
        again += 1
        call_id = f"{first}_{again}"
    return call_id


def _pair(block: Block, open_calls: list[ToolCall]) -> Block:
    if not isinstance(block, ToolResult):
        return block
    for call in open_calls:
        if block.call_id == call.call_id or (not block.call_id and block.name in (None, call.name)):
            open_calls.remove(call)
            return replace(block, call_id=call.call_id)
    return replace(block, call_id=block.call_id or block.name or "")
