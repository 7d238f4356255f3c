"""The rules that every provider has for tool calls: each is answered at once, and nothing else is answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bough.formats.types import Violation
from bough.model import Json


@dataclass(frozen=True, slots=True)
class Step:
    """What one wire message does: which calls it makes and which it answers."""

    index: int
    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    transparent: bool = False
    """Whether it may stand anywhere without parting a call from its results."""


def check_pairs(steps: Sequence[Step], grouped: bool) -> list[Violation]:
    """Rules 1 and 2, and rule 3 where the results of a step must be in one message."""
    found: list[Violation] = []
    open_calls: Counter[str] = Counter()
    answered_in: set[int] = set()
    asked_at: int | None = None
    for step in steps:
        if step.transparent:
            continue
        for call_id in step.results:
            if open_calls[call_id] > 0:
                open_calls[call_id] -= 1
                answered_in.add(step.index)
            else:
                found.append(Violation(2, f"the result {call_id!r} answers no call of the step before", step.index))
        if grouped and len(answered_in) > 1:
            found.append(Violation(3, "the results of one step are in more than one message", step.index))
            answered_in = {step.index}
        if not step.results or step.calls:
            found += _unanswered(open_calls, asked_at)
            open_calls, answered_in = Counter(step.calls), set()
            asked_at = step.index
    return found + _unanswered(open_calls, asked_at)


def _unanswered(open_calls: Counter[str], index: int | None) -> list[Violation]:
    return [
        Violation(1, f"the call {call_id!r} has no result right after it", index) for call_id in open_calls.elements()
    ]


def texts(values: Iterable[Json]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
