"""Keep dialogs that clients hold as a whole and send again with every request: only what is new is stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bough import formats
from bough.codec.digest import chain, digest_input
from bough.model import Json, Message, Node, Text, Thinking
from bough.model.values import replace
from bough.storage.record import session_below

if TYPE_CHECKING:
    from bough.session import Session
    from bough.store import Store


def spoken(format: str, messages: Json) -> tuple[Message, ...]:
    """The messages of a request, without the instructions at the beginning, which programs make anew each time.

    Raises `FormatError`.
    """
    decoded = formats.get(format).decode(messages).messages
    first = next((place for place, message in enumerate(decoded) if message.role != "system"), len(decoded))
    return decoded[first:] or decoded


def record(
    store: Store, /, prefix: str, messages: Sequence[Message], reply: Json = None, **details: Any
) -> Session | None:  # fmt: skip
    """Keep a dialog, and the reply to it, in the session of its first message; None if there is none.

    `details` are those of `Store.record`. Raises `BoughError`.
    """
    if not messages:
        return None
    return store.record(prefix, aligned(store, prefix, messages), reply=reply, **details)


def aligned(store: Store, prefix: str, messages: Sequence[Message]) -> list[Message]:
    """Messages, of which those that are stored with their reasoning are as stored: most clients send none back."""
    digests = chain(messages)
    key = session_below(store.db, prefix, digests[:1])
    if key is None or store.find_session(key) is None:
        return list(messages)
    path = store.session(key).path()
    if len(path) >= len(digests) and path[len(digests) - 1].digest == digests[-1]:
        return list(messages)
    made: list[Message] = []
    at: Node | None = None
    for place, message in enumerate(messages):
        node = path[place] if place < len(path) and (at is None or path[place].parent_id == at.id) else None
        if node is None or not is_same(node.message, message):
            found = store.children(at.id) if at is not None else []
            node = next((child for child in found if is_same(child.message, message)), None)
        if node is None:
            return [*made, *messages[place:]]
        made.append(node.message)
        at = node
    return made


def is_same(stored: Message, sent: Message) -> bool:
    """Whether a message is the stored one, reasoning aside."""
    return stored.role == sent.role and digest_input(bare(stored)) == digest_input(bare(sent))


def bare(message: Message) -> Message:
    """A message without reasoning and without empty text."""
    if message.role != "assistant":
        return message
    kept = tuple(block for block in message.blocks
                 if not isinstance(block, Thinking) and not (isinstance(block, Text) and not block.text))  # fmt: skip
    return replace(message, blocks=kept)
