"""Rules 1 to 3, which all providers share: tool calls and results come in adjacent pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from bough.formats.types import Violation
from bough.model import Json


@dataclass(frozen=True, slots=True)
class WireMessage:
    """The tool calls and results of one wire message."""

    index: int
    role: str
    calls: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    transparent: bool = False
    """Whether the message may come between a call and its results; true for system notes."""


def check_pairs(messages: Sequence[WireMessage], grouped: bool) -> list[Violation]:
    """Check rules 1 and 2, and rule 3 if `grouped`: the results of one reply must be in one message."""
    found: list[Violation] = []
    open_calls: Counter[str] = Counter()
    answered_in: set[int] = set()
    asked_at: int | None = None
    for message in messages:
        if message.transparent:
            continue
        for call_id in message.results:
            if open_calls[call_id] > 0:
                open_calls[call_id] -= 1
                answered_in.add(message.index)
            else:
                found.append(
                    Violation(2, f"the result {call_id!r} answers no call of the message before", message.index)
                )
        if grouped and len(answered_in) > 1:
            found.append(Violation(3, "the results of one reply are in more than one message", message.index))
            answered_in = {message.index}
        if not message.results or message.calls:
            found += _unanswered(open_calls, asked_at)
            open_calls, answered_in = Counter(message.calls), set()
            asked_at = message.index
    return found + _unanswered(open_calls, asked_at)


def merged(messages: Iterable[WireMessage], roles: Container[str]) -> list[WireMessage]:
    """Each run of messages of one of these roles as one message, as some providers take them."""
    found: list[WireMessage] = []
    for message in messages:
        before = found[-1] if found else None
        if before is None or before.role != message.role or message.role not in roles:
            found.append(message)
        else:
            calls, results = (*before.calls, *message.calls), (*before.results, *message.results)
            found[-1] = WireMessage(before.index, before.role, calls, results)
    return found


def _unanswered(open_calls: Counter[str], index: int | None) -> list[Violation]:
    return [
        Violation(1, f"the call {call_id!r} has no result right after it", index) for call_id in open_calls.elements()
    ]


def texts(values: Iterable[Json]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))
