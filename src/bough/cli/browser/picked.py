"""What a user chose in the browser."""

from __future__ import annotations

from typing import Literal, TypeAlias

from bough.model.values import value

PickedVerb: TypeAlias = Literal["open", "continue", "fork", "edit", "regenerate", "new", "page"]


@value
class Picked:
    """What to do next, and where."""

    verb: PickedVerb
    session: str | None = None
    """The key of the conversation that was open."""
    id: str | None = None
    """The message that was chosen."""
    model: str | None = None
    """For `regenerate`: another model."""
