"""Mends a dialog so that a provider can accept it: every call answered, once, right after it was made.

Dialogs break when a run is cut off between a call and its result, when results are saved twice, and when someone forks
in the middle of a step. The store keeps what happened; only the request is mended.
"""

from __future__ import annotations

from collections.abc import Sequence

from bough.model import Block, Message, Text, ToolCall, ToolResult, user
from bough.model.values import replace, value

CANCELLED = "No result was recorded for this call; it was cancelled or cut off."


@value
class Step:
    """A message on its way into a request, and the node that it came from."""

    id: str
    message: Message


def repair(steps: Sequence[Step]) -> list[Step]:
    """The dialog with each call answered exactly once, and begun by the user. What needs no mending is not touched."""
    mended: list[Step] = []
    at = 0
    while at < len(steps):
        step = steps[at]
        end = at + 1
        if step.message.role == "assistant" and step.message.calls:
            while end < len(steps) and steps[end].message.role != "assistant":
                end += 1
            mended += _answered(step, steps[at + 1 : end])
        elif step.message.role != "tool_result":
            mended.append(step)  # a result that nobody asked for is left out
        at = end
    mended = _notes_between_speakers(mended)
    first = next((step for step in mended if step.message.role != "system"), None)
    if first is not None and first.message.role != "user":
        mended.insert(0, Step(first.id, user()))
    return mended


def _answered(asking: Step, following: Sequence[Step]) -> list[Step]:
    """The message that makes calls, their results, and what else was said before the next reply."""
    message = _distinct(asking.message)
    # A tool_result message without a result answers nothing, and would separate the call from its results.
    following = [step for step in following if step.message.role != "tool_result" or step.message.results]
    wanted = [call.call_id for call in message.calls]
    answers = [step for step in following if step.message.role == "tool_result"]
    others = [step for step in following if step.message.role != "tool_result"]
    given = [result.call_id for step in answers for result in step.message.results]
    if sorted(given) == sorted(wanted) and not _late(following):
        return [replace(asking, message=message), *answers, *others]
    results: dict[str, ToolResult] = {}
    for step in answers:
        for result in step.message.results:
            if result.call_id in wanted:
                results.setdefault(result.call_id, result)
    blocks = tuple(results.get(id_) or ToolResult(id_, (Text(CANCELLED),), True) for id_ in wanted)
    answer = Message("tool_result", blocks, any(result.error for result in blocks))
    place = answers[0].id if answers else asking.id
    return [replace(asking, message=message), Step(place, answer), *others]


def _notes_between_speakers(steps: list[Step]) -> list[Step]:
    """A note inside what one side says goes to the end of it: some providers want the sides to alternate.

    It never comes between a call and its result.
    """
    placed: list[Step] = []
    notes: list[Step] = []
    for step in steps:
        if step.message.role == "system":
            notes.append(step)
            continue
        changes = not placed or _side(placed[-1]) != _side(step)
        if changes and step.message.role != "tool_result":
            placed += notes
            notes = []
        placed.append(step)
    return placed + notes


def _side(step: Step) -> bool:
    return step.message.role == "assistant"


def _late(following: Sequence[Step]) -> bool:
    """Whether something stands between the call and its results."""
    roles = [step.message.role == "tool_result" for step in following]
    return roles != sorted(roles, reverse=True)


def _distinct(message: Message) -> Message:
    """The message without calls that repeat the id of an earlier one."""
    seen: set[str] = set()
    blocks: list[Block] = []
    for block in message.blocks:
        if isinstance(block, ToolCall):
            if block.call_id in seen:
                continue
            seen.add(block.call_id)
        blocks.append(block)
    return message if len(blocks) == len(message.blocks) else replace(message, blocks=tuple(blocks), envelope=None)
