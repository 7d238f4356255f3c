"""Protocols of one method each, so that a consumer can require no more than it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeAlias

from bough.errors import Corrupt
from bough.model import Node, Save

Progress: TypeAlias = Callable[[int, int], None]
"""Called at intervals with the amount done and the total."""


class MessagesSaver(Protocol):
    """A store of messages, for writing."""

    def save_messages(self, saves: Sequence[Save]) -> list[str]:
        """Save all of them or none; return their ids, in the same order."""


class MessagesGetter(Protocol):
    """A store of messages, for reading by id."""

    def get_messages(self, ids: Sequence[str]) -> list[Node]:
        """The messages with these ids, in this order. Raises `NotFound` with the first unknown id."""


class MessagesLister(Protocol):
    """A store of messages, for listing."""

    def list_messages(self, offset: int = 0, limit: int | None = None, ascending: bool = False) -> Iterator[Node]:
        """All messages, the newest first."""


class MessagesDeleter(Protocol):
    """A store of messages, for deleting."""

    def delete_messages(self, ids: Sequence[str], recursive: bool = False) -> None:
        """Delete messages, with their descendants if `recursive`; otherwise raise `Refused` if one has children."""


class MessageDB(MessagesSaver, MessagesGetter, MessagesLister, MessagesDeleter, Protocol):
    """All four protocols."""


def get_dialog(getter: MessagesGetter, message_id: str) -> list[Node]:
    """The dialog up to a message, root first, from any `MessagesGetter`.

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
