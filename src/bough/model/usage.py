"""Usage: tokens and cost of replies, and their totals."""

from __future__ import annotations

from typing import Any

from bough.model.values import value


@value
class Usage:
    """Tokens, and cost in US dollars. An unknown value is None, never zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            _sum(self.cost, other.cost),
        )


def _sum(one: Any, other: Any) -> Any:
    return other if one is None else one if other is None else one + other


NOTHING = Usage()
"""No count is known."""
COUNTS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "cost")


def subtract(total: Usage, part: Usage) -> Usage:
    """`total` minus `part`, never below zero; a count that either lacks stays as it is in `total`."""

    def difference(name: str) -> Any:
        have, minus = getattr(total, name), getattr(part, name)
        return have if have is None or minus is None else max(have - minus, 0)

    return Usage(*(difference(name) for name in COUNTS))


def highest(one: Usage, other: Usage) -> Usage:
    """The higher of each count of two."""
    return one + subtract(other, one)


@value
class Totals:
    """The usage of several replies."""

    name: str | None
    """What they have in common: a model, a session's key, a day. None where it is unknown, for all, and for a pair."""
    turns: int
    """How many turns these replies belong to. A turn with replies of two models counts for both."""
    usage: Usage
    unpriced: int
    """How many of these turns have a reply without a known cost."""
    names: tuple[str | None, ...] = ()
    """The names of one or of a pair, in the order in which they were asked for."""
    replies: int = 0


@value
class ReplyInfo:
    """One reply of a provider: who gave it, what it cost and how long it took. Times are microseconds since 1970."""

    message_id: str
    """The id of its message; of the turn's first message for what was spent before any reply."""
    turn_id: str | None
    """The id of the first message of its turn; None for a summary, which no turn added."""
    session: str | None
    """The key of the session that paid for it; None when that was deleted."""
    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    usage: Usage = Usage()
    started_at: int | None = None
    """When the request was sent, if that is known."""
    first_token_at: int | None = None
    finished_at: int = 0
