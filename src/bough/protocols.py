"""The narrow contracts: one method each, so that a consumer can ask for no more than it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from bough.errors import Corrupt
from bough.model import Node, Save

Progress: TypeAlias = Callable[[int, int], None]
"""Is told, from time to time, how much of how much has been done."""


class MessagesSaver(Protocol):
    """Whatever can keep messages."""

    def save_messages(self, saves: Sequence[Save]) -> list[str]:
        """Saves all of them or none; their ids, in the same order."""


class MessagesGetter(Protocol):
    """Whatever can give messages by their ids."""

    def get_messages(self, ids: Sequence[str]) -> list[Node]:
        """The messages with these ids, in this order; raises `NotFound` naming one that is not there."""


class MessagesLister(Protocol):
    """Whatever can list messages."""

    def list_messages(self, offset: int = 0, limit: int | None = None, ascending: bool = False) -> Iterator[Node]:
        """Every message, the newest first."""


class MessagesDeleter(Protocol):
    """Whatever can delete messages."""

    def delete_messages(self, ids: Sequence[str], recursive: bool = False) -> None:
        """Deletes messages, with all that follows them if `recursive`."""


class MessageDB(MessagesSaver, MessagesGetter, MessagesLister, MessagesDeleter, Protocol):
    """All four."""


def get_dialog(getter: MessagesGetter, message_id: str) -> list[Node]:
    """The dialog that leads to a message, root first, from anything that can get messages.

    Raises `NotFound` for an id that is not there and `Corrupt` for a parent chain that comes back to itself.
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
