"""Calls of a model that another program has made: each brings the whole dialog, of which only what is new is stored."""

from __future__ import annotations

from typing import Any

from bough.codec.digest import chain
from bough.model import Message, Usage
from bough.model.values import value
from bough.session import Session


@value
class ModelCall:
    """What was sent, and the reply or the error."""

    sent: list[Message]
    reply: list[Message] | None = None
    error: str | None = None
    model: str | None = None
    provider: str | None = None
    request_id: str | None = None
    usage: Usage = Usage()


def record(session: Session, call: ModelCall) -> None:
    """Stores what is new of a call. Where it departs from the dialog, it becomes a branch and the dialog.

    A failed call is a failed turn with the last words that were sent, if they are the user's.
    """
    path, digests = session.path(), chain([*call.sent, *(call.reply or ())])
    same = 0
    for node, digest in zip(path, digests, strict=False):
        if node.digest != digest:
            break
        same += 1
    new = [*call.sent, *(call.reply or ())][same:]
    at = path[same - 1].id if same else None
    about: dict[str, Any] = {"model": call.model, "provider": call.provider}
    if call.error is None:
        if call.reply and new:
            replies = sum(message.role == "assistant" for message in new)
            usages = [*[None] * (replies - 1), call.usage] if replies else None
            session.append(new, at=at, usage=usages, request_id=call.request_id, **about)
        return
    if new and new[-1].role == "user":
        if new[:-1]:
            session.append(new[:-1], at=at)
        elif session.head != at:
            session.move(at)
        session.turn(new[-1], **about).fail(call.error)
