"""Protocols of one method each, so that a consumer can ask for no more than it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from bough.errors import Corrupt
from bough.model import Node, Save

Progress: TypeAlias = Callable[[int, int], None]
"""Called from time to time with what is done and the total."""


class MessagesSaver(Protocol):
    """Anything that stores messages."""

    def save_messages(self, saves: Sequence[Save]) -> list[str]:
        """Saves all of them or none; their ids, in the same order."""


class MessagesGetter(Protocol):
    """Anything that loads messages by id."""

    def get_messages(self, ids: Sequence[str]) -> list[Node]:
        """The messages with these ids, in this order. Raises `NotFound` naming one that does not exist."""


class MessagesLister(Protocol):
    """Anything that lists messages."""

    def list_messages(self, offset: int = 0, limit: int | None = None, ascending: bool = False) -> Iterator[Node]:
        """Every message, the newest first."""


class MessagesDeleter(Protocol):
    """Anything that deletes messages."""

    def delete_messages(self, ids: Sequence[str], recursive: bool = False) -> None:
        """Deletes messages, with their descendants if `recursive`. Raises `Refused` for children otherwise."""


class MessageDB(MessagesSaver, MessagesGetter, MessagesLister, MessagesDeleter, Protocol):
    """All four protocols."""


def get_dialog(getter: MessagesGetter, message_id: str) -> list[Node]:
    """The dialog that leads to a message, root first, over any `MessagesGetter`.

    Raises `NotFound` for an unknown id, and `Corrupt` for a cycle of parents.
    """
    path: list[Node] = []
    seen: set[str] = set()
    wanted: str | None = message_id
    while wanted is not None:
        (node,) = getter.get_messages([wanted])
        if node.id in seen:
            raise Corrupt(f"Message {node.id!r} is its own ancestor; run verify().")
        seen.add(node.id)
        path.append(node)
        wanted = node.parent_id
    return path[::-1]
