"""Rules of the Responses API: 1, 2, 11, 15 and 17 of docs/formats.md."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from bough.formats.openai_chat.rules import check_cache_markers
from bough.formats.openai_responses.calls import OUTPUTS, call_key, is_call, is_output
from bough.formats.payload import at, plain, request_list
from bough.formats.types import Violation
from bough.model import Json

INPUT_ROLES = {"user", "system", "developer"}


def check(payload: Json) -> list[Violation]:
    payload = plain(payload)
    if isinstance(at(payload, "input"), str):
        payload = {**payload, "input": []}  # one text of the user, against which there is no rule
    request, items = request_list(payload, "input")
    # Rule 17: with a previous response the provider has the calls, so an output without its call is valid.
    remembered = bool(request.get("previous_response_id") or request.get("conversation")) or any(map(_refers, items))
    return _check_pairs(items, remembered) + _check_reasoning(items) + check_cache_markers(items)


def _refers(item: dict[str, Json]) -> bool:
    """Whether an item stands for one that the provider has, which may be a call."""
    return item.get("type") == "item_reference" or (item.get("type") is None and "role" not in item)


def _check_pairs(items: list[dict[str, Json]], remembered: bool) -> list[Violation]:
    """Rules 1 and 2: calls and outputs come in pairs, which need not be adjacent."""
    found = []
    waiting: Counter[str] = Counter()
    asked_at: dict[str, int] = {}
    for index, item in enumerate(items):
        kind = str(item.get("type"))
        key = call_key(kind, item)
        if is_call(kind, item) and key:
            waiting[key] += 1
            asked_at[key] = index
        elif is_output(kind, item) and key:
            if waiting[key] > 0:
                waiting[key] -= 1
            elif not remembered and kind != "local_shell_call_output":
                found.append(Violation(2, f"the output {key!r} answers no call", index))
    unanswered = [key for key in waiting.elements() if items[asked_at[key]]["type"] != "local_shell_call"]
    return found + [Violation(1, f"the call {key!r} has no output", asked_at[key]) for key in unanswered]


def _check_reasoning(items: list[dict[str, Json]]) -> list[Violation]:
    """Rule 11: a reasoning item is followed by another item of the model, to which it is bound."""
    followed = pairwise([*items, {"role": "user"}])
    return [
        Violation(11, "a reasoning item without the item that followed it", index)
        for index, (item, after) in enumerate(followed)
        if item.get("type") == "reasoning" and not is_bound(item, after)
    ]


def is_bound(reasoning: dict[str, Json], after: dict[str, Json]) -> bool:
    """Whether an item can be the one that followed the reasoning: one of the model, and not an answer that was edited.

    A stored answer of OpenAI has an id, as its reasoning has. Other servers, whose ids look different, do not ask.
    """
    if str(after.get("role")) in INPUT_ROLES or str(after.get("type")) in OUTPUTS:
        return False
    is_message = str(after.get("type") or "message") == "message"
    is_stored = str(reasoning.get("id") or "").startswith("rs_")
    return not (is_message and is_stored and not after.get("id"))
