"""Rules of the Interactions API: 1, 2, 6 and 17 of docs/formats.md."""

from __future__ import annotations

from collections import Counter

from bough.formats.payload import at, plain, request_list
from bough.formats.types import Violation
from bough.model import Json


def check(payload: Json) -> list[Violation]:
    payload = plain(payload)
    if isinstance(at(payload, "input"), (str, dict)):
        payload = {**payload, "input": []}  # one text or content of the user, against which there is no rule
    request, steps = request_list(payload, "input")
    # Rule 17: with a previous interaction the provider has the calls.
    found = _check_pairs(steps, remembered=bool(request.get("previous_interaction_id")))
    for index, step in enumerate(steps):
        if step.get("type") == "user_input" and not step.get("content"):
            found.append(Violation(6, "an input without content", index))
    return found


def _check_pairs(steps: list[dict[str, Json]], remembered: bool) -> list[Violation]:
    found = []
    waiting: Counter[str] = Counter()
    asked_at: dict[str, int] = {}
    for index, step in enumerate(steps):
        if step.get("type") == "function_call":
            waiting[str(step.get("id"))] += 1
            asked_at[str(step.get("id"))] = index
        elif step.get("type") == "function_result":
            key = str(step.get("call_id"))
            if waiting[key] > 0:
                waiting[key] -= 1
            elif not remembered:
                found.append(Violation(2, f"the result {key!r} answers no call", index))
    return found + [Violation(1, f"the call {key!r} has no result", asked_at[key]) for key in waiting.elements()]
