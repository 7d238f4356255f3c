"""Repair a dialog for a request: every tool call is followed by exactly one result.

Dialogs break when a run is stopped or cut off between a call and its result, when a result is saved twice, and when a
session is forked between a call and its result. The store keeps the original; only the request is repaired.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from bough.model import Block, Message, Role, Text, ToolCall, ToolResult, user
from bough.model.values import replace, value

CANCELLED = "No result was recorded for this call; it was cancelled or cut off."
STOPPED = "Stopped by the user before a result was recorded. Whether the call had any effect is not known."

Reason: TypeAlias = Callable[[str], str]
"""Returns the text of a missing result, for the id of the message with the call."""


def cancelled(id: str) -> str:  # noqa: ARG001
    """The reason where nothing else is known."""
    return CANCELLED


@value
class RequestMessage:
    """A message of a request, and the id of the node that it comes from."""

    id: str
    message: Message


def repair(items: Sequence[RequestMessage], reason: Reason = cancelled) -> list[RequestMessage]:
    """The dialog with exactly one result per call and a user message first. Valid messages are returned unchanged."""
    items = [piece for item in items for piece in _split_answered(item)]
    repaired: list[RequestMessage] = []
    at = 0
    while at < len(items):
        item = items[at]
        end = at + 1
        if item.message.role == "assistant" and item.message.calls:
            while end < len(items) and items[end].message.role != "assistant":
                end += 1
            if end == at + 1 and (later := _results_after(item, items, end)):
                repaired += _with_results(item, later, reason)
            else:
                repaired += _with_results(item, items[at + 1 : end], reason)
        elif item.message.role != "tool_result":
            repaired.append(item)  # a tool_result message here answering no call, and is dropped
        at = end
    repaired = _move_notes(repaired)
    first = next((item for item in repaired if item.message.role != "system"), None)
    if first is not None and first.message.role != "user":
        repaired.insert(0, RequestMessage(first.id, user()))
    return repaired


def _results_after(calling: RequestMessage, items: Sequence[RequestMessage], at: int) -> list[RequestMessage]:
    """The results of a reply that further replies follow at once: they come after those, with their results."""
    while at < len(items) and items[at].message.role == "assistant":
        at += 1
    wanted = {call.call_id for call in calling.message.calls if call.call_id}
    found = []
    while at < len(items) and items[at].message.role == "tool_result":
        own = tuple(result for result in items[at].message.results if result.call_id in wanted)
        if own:
            found.append(replace(items[at], message=replace(items[at].message, blocks=own, envelope=None)))
        at += 1
    return found


def _split_answered(item: RequestMessage) -> list[RequestMessage]:
    """A reply in several messages, if it has results of its own calls: of tools that the provider ran itself.

    Each result follows its call as if the client had sent it; calls that are still open come after it.
    """
    message = item.message
    if message.role != "assistant" or not message.results:
        return [item]
    answered = {result.call_id for result in message.results}
    pieces: list[list[Block]] = [[]]
    waiting: list[Block] = []
    for block in message.blocks:
        if isinstance(block, ToolCall) and block.call_id not in answered:
            waiting.append(block)
        elif pieces[-1] and isinstance(block, ToolResult) != isinstance(pieces[-1][-1], ToolResult):
            pieces.append([block])
        else:
            pieces[-1].append(block)
    if not isinstance(pieces[-1][-1], ToolResult):
        pieces[-1] += waiting
    else:
        pieces.append(waiting)
    return [replace(item, message=_piece(message, tuple(piece))) for piece in pieces if piece]


def _piece(message: Message, blocks: tuple[Block, ...]) -> Message:
    """A piece of a reply. The envelope stays where it says how the items came, and not how one message looked."""
    kept = message.envelope if isinstance(message.envelope, dict) else {}
    envelope = {family: shell for family, shell in kept.items() if isinstance(shell, str)} or None
    role: Role = "tool_result" if isinstance(blocks[0], ToolResult) else "assistant"
    return Message(role, blocks, any(isinstance(block, ToolResult) and block.error for block in blocks), envelope)


def _with_results(calling: RequestMessage, following: Sequence[RequestMessage], reason: Reason) -> list[RequestMessage]:
    """The message with the calls, its results, and the other messages before the next reply."""
    message = _without_repeated_calls(calling.message)
    # A tool_result message without a result answering nothing, and would separate the call from its results.
    following = [item for item in following if item.message.role != "tool_result" or item.message.results]
    wanted = [call.call_id for call in message.calls]
    answering = _named([item for item in following if item.message.role == "tool_result"], wanted)
    others = [item for item in following if item.message.role != "tool_result"]
    given = [result.call_id for item in answering for result in item.message.results]
    if sorted(given) == sorted(wanted) and not _out_of_order(following):
        return [replace(calling, message=message), *answering, *others]
    results: dict[str, ToolResult] = {}
    for item in answering:
        for result in item.message.results:
            if result.call_id in wanted:
                results.setdefault(result.call_id, result)
    missing = Text(reason(calling.id)) if set(wanted) - results.keys() else Text(CANCELLED)
    blocks = tuple(results.get(id_) or ToolResult(id_, (missing,), True) for id_ in wanted)
    answer = Message("tool_result", blocks, any(result.error for result in blocks))
    place = answering[0].id if answering else calling.id
    return [replace(calling, message=message), RequestMessage(place, answer), *others]


def _named(answering: list[RequestMessage], wanted: list[str]) -> list[RequestMessage]:
    """The results, with those that name no call given the open calls in order."""
    given = {result.call_id for item in answering for result in item.message.results}
    if "" not in given or "" in wanted:
        return answering
    left = iter([call_id for call_id in wanted if call_id not in given])

    def name(block: Block) -> Block:
        if not isinstance(block, ToolResult) or block.call_id:
            return block
        return replace(block, call_id=next(left, ""))

    def message(named: Message) -> Message:
        return replace(named, blocks=tuple(map(name, named.blocks)))

    return [replace(item, message=message(item.message)) for item in answering]


def _move_notes(items: list[RequestMessage]) -> list[RequestMessage]:
    """Move system notes to where the role changes, because some providers want user and assistant to alternate.

    A note never comes between a call and its result.
    """
    placed: list[RequestMessage] = []
    notes: list[RequestMessage] = []
    for item in items:
        if item.message.role == "system":
            notes.append(item)
            continue
        changes = not placed or _is_reply(placed[-1]) != _is_reply(item)
        if changes and item.message.role != "tool_result":
            placed += notes
            notes = []
        placed.append(item)
    return placed + notes


def _is_reply(item: RequestMessage) -> bool:
    return item.message.role == "assistant"


def _out_of_order(following: Sequence[RequestMessage]) -> bool:
    """Whether another message comes between the call and its results."""
    roles = [item.message.role == "tool_result" for item in following]
    return roles != sorted(roles, reverse=True)


def _without_repeated_calls(message: Message) -> Message:
    """The message without calls whose id repeats an earlier one, which no provider accepts."""
    seen: set[str] = set()
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            if block.call_id in seen:
                continue
            seen.add(block.call_id)
        blocks.append(block)
    return message if len(blocks) == len(message.blocks) else replace(message, blocks=tuple(blocks), envelope=None)
