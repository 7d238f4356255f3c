"""What applications give the store as a whole: turns that are complete already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.model.messages import Message
from bough.model.usage import Usage
from bough.model.values import value


@value
class SaveTurn:
    """A complete turn to save with others, by `Session.save_turns`; the fields are those of `Session.save_turn`."""

    messages: Sequence[Message | Any]
    """Messages, texts, and replies of providers."""
    idempotency_key: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: Usage | Sequence[Usage | None] | None = None
    request_id: str | None = None
    instructions: str | None = None
    metadata: dict[str, Any] | None = None


@value
class RunningReply:
    """What a running turn has received so far of a reply that is still being written."""

    turn_id: str | None
    """The id of the first message of the turn: of an answer without a message, the one that it will get, if known."""
    parent_id: str | None
    """The message before the turn: of an answer to an existing question, the question."""
    session: str | None
    message: Message
