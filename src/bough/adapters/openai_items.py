"""Items of the Responses API ⇄ messages, one message for each item, so that one item can be taken off or forked at."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from bough import formats
from bough.errors import FormatError
from bough.model import ROLES, Json, Message, Node, Other, Role, Text

FORMAT = "openai.responses"
KEPT = "openai.agents"
"""In the envelope of a message: an item that the format does not know, verbatim."""


def message_of(item: Json) -> Message:
    """The message of an item. Its items are equal to the item, whatever that is."""
    form = formats.get(FORMAT)
    if isinstance(item, dict):
        try:
            found = form.decode([item]).messages
            if len(found) == 1 and form.encode(found).payload == [item]:
                return found[0]
        except FormatError:
            pass
    given = item if isinstance(item, dict) else {}
    role: Role = next((role for role in ROLES if role == given.get("role")), "user")
    text = given.get("content")
    block = Text(text) if isinstance(text, str) else Other(str(given.get("type") or "item"), None)
    return Message(role, (block,), envelope={KEPT: item})


def items_of(messages: Sequence[Message]) -> list[Json]:
    """The items of messages: as they were added here, or converted if another program added them."""
    items: list[Json] = []
    for kept, run in groupby(messages, key=_is_kept):
        if kept:
            items += [message.envelope[KEPT] for message in run]
        else:
            items += formats.get(FORMAT).encode(list(run)).payload
    return items


def own_item(node: Node) -> Json:
    """The item of a message that came from this SDK, or its API; None if it has to be converted with its dialog."""
    if node.kind == "summary":
        return None
    message, envelope = node.message, node.message.envelope
    if isinstance(envelope, dict):
        if KEPT in envelope:
            return envelope[KEPT]
        if message.role in ("user", "system") and isinstance(envelope.get(FORMAT), dict):
            (item,) = formats.get(FORMAT).encode([message]).payload
            return item
    elif len(message.blocks) == 1 and message.role not in ("user", "system"):
        raw = message.blocks[0].raw
        return raw.get(FORMAT) if isinstance(raw, dict) else None
    return None


def _is_kept(message: Message) -> bool:
    return isinstance(message.envelope, dict) and KEPT in message.envelope
