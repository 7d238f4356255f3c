"""Records that become several messages, each after the one before: a reply, then the results of its calls."""

from __future__ import annotations

from collections.abc import Sequence

from bough.model import Message, Usage
from bough.model.imported import ImportedMessage


def linked(
    id: str,
    messages: Sequence[Message],
    parent: str | None,
    time: int | None,
    *,
    model: str | None = None,
    provider: str | None = None,
    usage: Usage | None = None,
    request_id: str | None = None,
    finished: bool = True,
) -> list[ImportedMessage]:
    """The messages of one record; the first has its id. Only replies have a model, and only the first one the usage."""
    made: list[ImportedMessage] = []
    counted = False
    for number, message in enumerate(messages):
        is_reply = message.role == "assistant"
        name = f"{id}#{number}" if number else id
        made.append(
            ImportedMessage(
                name, message, parent, time,
                model=model if is_reply else None, provider=provider if is_reply else None,
                usage=usage if is_reply and not counted else None, request_id=request_id if is_reply else None,
                finished=finished or not is_reply,
            )
        )  # fmt: skip
        counted = counted or is_reply
        parent = name
    return made
