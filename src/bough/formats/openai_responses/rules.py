"""What the Responses API refuses."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from bough.formats.openai_chat.rules import check_cache_markers
from bough.formats.openai_responses.calls import CALLS, OUTPUTS, call_key
from bough.formats.payload import request_list
from bough.formats.types import Violation
from bough.model import Json

ASKING = {"function_call", "custom_tool_call", *CALLS}
SPOKEN_TO = {"user", "system", "developer"}


def check(payload: Json) -> list[Violation]:
    request, items = request_list(payload, "input")
    # With a previous response the provider holds the calls, so an output without its call is as it should be (17).
    remembered = bool(request.get("previous_response_id") or request.get("conversation"))
    return _check_pairs(items, remembered) + _check_reasoning(items) + check_cache_markers(items)


def _check_pairs(items: list[dict[str, Json]], remembered: bool) -> list[Violation]:
    found = []
    waiting: Counter[str] = Counter()
    asked_at: dict[str, int] = {}
    for index, item in enumerate(items):
        kind = str(item.get("type"))
        key = call_key(kind, item)
        if kind in ASKING and key:
            waiting[key] += 1
            asked_at[key] = index
        elif kind in OUTPUTS and key:
            if waiting[key] > 0:
                waiting[key] -= 1
            elif not remembered and kind != "local_shell_call_output":
                found.append(Violation(2, f"the output {key!r} answers no call", index))
    unanswered = [key for key in waiting.elements() if items[asked_at[key]]["type"] != "local_shell_call"]
    return found + [Violation(1, f"the call {key!r} has no output", asked_at[key]) for key in unanswered]


def _check_reasoning(items: list[dict[str, Json]]) -> list[Violation]:
    """Reasoning is followed by what it led to: an item of the model's."""
    followed = pairwise([*items, {"role": "user"}])
    return [
        Violation(11, "a reasoning item without the item that followed it", index)
        for index, (item, after) in enumerate(followed)
        if item.get("type") == "reasoning"
        and (str(after.get("role")) in SPOKEN_TO or str(after.get("type")) in OUTPUTS)
    ]
