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
        def total(mine: Any, theirs: Any) -> Any:
            return theirs if mine is None else mine if theirs is None else mine + theirs

        return Usage(
            total(self.input_tokens, other.input_tokens),
            total(self.output_tokens, other.output_tokens),
            total(self.cached_tokens, other.cached_tokens),
            total(self.reasoning_tokens, other.reasoning_tokens),
            total(self.cost, other.cost),
        )


@value
class Totals:
    """The usage of several turns. `name` is what they were grouped by: a session key, a model, a day."""

    name: str | None
    turns: int
    usage: Usage
    unpriced: int
    """Number of turns without a known cost."""
