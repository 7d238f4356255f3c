"""Rules of Q Developer: 1–3 and 16 of docs/formats.md."""

from __future__ import annotations

from itertools import pairwise

from bough.formats.pairing import WireMessage, check_pairs, texts
from bough.formats.payload import as_dict, as_list, at, optional_list, plain
from bough.formats.qdeveloper.decode import ASSISTANT, CONTEXT, USER
from bough.formats.types import Violation
from bough.model import Json


def check(payload: Json) -> list[Violation]:
    state = as_dict(plain(payload), "A Q Developer payload")
    state = as_dict(state.get("conversationState", state), "conversationState")
    wire = optional_list(state.get("history"), "history")
    current = state.get("currentMessage")
    wire_messages = [as_dict(item, "history[]") for item in ([*wire, current] if current is not None else wire)]
    found = check_pairs([_wire_message(index, item) for index, item in enumerate(wire_messages)], grouped=True)
    if current is not None and USER not in wire_messages[-1]:
        found.append(Violation(16, f"the current message is no {USER}", len(wire_messages) - 1))
    return found + _check_alternation(wire_messages) + _check_first(wire_messages) + _check_tools(wire_messages)


def _wire_message(index: int, item: dict[str, Json]) -> WireMessage:
    calls = at(item, ASSISTANT, "toolUses")
    results = at(item, USER, CONTEXT, "toolResults")
    return WireMessage(
        index,
        "user" if USER in item else "assistant",
        texts(at(call, "toolUseId") for call in calls or []),
        texts(at(result, "toolUseId") for result in results or []),
    )


def _check_alternation(wire_messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 16: inputs and replies come in strict pairs."""
    found = []
    if wire_messages and USER not in wire_messages[0]:
        found.append(Violation(16, f"the history does not begin with a {USER}", 0))
    for index, (before, item) in enumerate(pairwise(wire_messages), 1):
        if (USER in before) == (USER in item):
            found.append(Violation(16, "inputs and replies do not come in pairs", index))
    return found


def _check_first(wire_messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 16: the first input has no tool results."""
    if wire_messages and at(wire_messages[0], USER, CONTEXT, "toolResults"):
        return [Violation(16, "the first input has a tool's results", 0)]
    return []


def _check_tools(wire_messages: list[dict[str, Json]]) -> list[Violation]:
    """Rule 16: every tool called in the history is among the tools of the newest input, if it lists any."""
    tools = at(wire_messages[-1], USER, CONTEXT, "tools") if wire_messages else None
    if tools is None:
        return []
    known = {at(tool, "toolSpecification", "name") for tool in as_list(tools, "tools")}
    return [
        Violation(16, f"the tool {at(call, 'name')!r} is not among the tools", index)
        for index, item in enumerate(wire_messages)
        for call in at(item, ASSISTANT, "toolUses") or []
        if at(call, "name") not in known
    ]
