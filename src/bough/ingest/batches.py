"""What is brought into a store comes in lots: as much as fits into memory and a short transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

from bough.codec.encode import Draft, draft
from bough.errors import Invalid
from bough.model import Block, Media, Message, Node, Text, Thinking, ToolCall, ToolResult
from bough.model.imported import Brought, Said, Skipped

MESSAGES = 500
BYTES = 4_000_000
SKIPPED_KEPT = 1_000

T = TypeVar("T")


class Work(Protocol):
    """A conversation or an archive on its way into a store, lot by lot."""

    skipped: list[Skipped]
    """Of what was told, what could not be kept."""

    @property
    def is_unwanted(self) -> bool:
        """Whether it was deleted here, and nobody asks for it again."""

    def seen(self, lot: list[Any]) -> Work | None:
        """The work when a lot is known as it is; None when there may be something to store."""

    def drafts(self, lot: list[Any]) -> dict[str, Draft]:
        """What may be new of a lot, hashed and compressed before the transaction begins."""

    def after(self, lot: list[Any], drafts: dict[str, Draft], now: int) -> Work:
        """The work when a lot is stored, inside a transaction. This one stays as it is: transactions are retried."""

    def count(self, lot: list[Any]) -> None:
        """Says what would be new of a lot, and stores nothing."""

    def foresight(self) -> Brought:
        """What would become of everything that was counted."""

    def finish(self, now: int) -> Brought:
        """Makes the sessions stand where they should, inside the last transaction."""


def lots(items: Iterable[T | Skipped], skipped: list[Skipped]) -> Iterator[list[T]]:
    """Things of the same kind, some at a time; what was skipped is put aside."""
    lot: list[T] = []
    size = 0
    for item in items:
        if isinstance(item, Skipped):
            note(skipped, item)
            continue
        if lot and (type(lot[-1]) is not type(item) or len(lot) >= MESSAGES or size >= BYTES):
            yield lot
            lot, size = [], 0
        lot.append(item)
        size += _size(item.message) if isinstance(item, (Said, Node)) else 0
    if lot:
        yield lot


def _size(message: Message) -> int:
    return sum(map(_block_size, message.blocks))


def _block_size(block: Block) -> int:
    match block:
        case Text() | Thinking():
            return len(block.text)
        case ToolCall():
            return len(block.arguments)
        case ToolResult():
            return sum(map(_block_size, block.content))
        case Media():
            return len(block.data or b"")
    return 200


def note(skipped: list[Skipped], one: Skipped) -> None:
    """Remembers what was skipped; after so many, without what it says."""
    skipped.append(one if len(skipped) < SKIPPED_KEPT else Skipped(one.place, one.reason))


def drafts(messages: Iterable[Said | Node], skipped: list[Skipped]) -> dict[str, Draft]:
    """Messages hashed and compressed, before a transaction begins. One that cannot be kept is skipped.

    So is one whose name another message of the lot has: a mistake of the other program, which is not hidden.
    """
    found: dict[str, Draft] = {}
    first: dict[str, Message] = {}
    for one in messages:
        if first.setdefault(one.id, one.message) is not one.message:
            if first[one.id] != one.message:
                note(skipped, Skipped(one.id, "Left out: another message has the same name."))
            continue
        try:
            found[one.id] = draft(one.message)
        except (Invalid, RecursionError) as error:
            note(skipped, Skipped(one.id, str(error)))
    return found
