"""Batches of an import: as much as fits into memory and a short transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias, TypeVar

from bough.errors import Invalid
from bough.model import Block, Media, Message, Node, Text, Thinking, ToolCall, ToolResult
from bough.model.imported import ImportedMessage, ImportResult, Skipped
from bough.storage.messages import Entry

MESSAGES = 500
BYTES = 4_000_000
SKIPPED_WITH_CONTENT = 1_000
SMALL_BLOCK = 200
"""Assumed size of a block without text or data."""

T = TypeVar("T")
Prepare: TypeAlias = Callable[[list[Message]], list[Entry]]


class Ingestion(Protocol):
    """An import in progress of one conversation or archive, batch by batch."""

    skipped: list[Skipped]
    """Items that could not be stored."""

    @property
    def is_deleted(self) -> bool:
        """Whether it was deleted here and is not wanted again."""

    def distinct(self, batch: list[Any]) -> list[Any]:
        """The batch with an id of its own for each message that has other words than one with the same id."""

    def skip_known(self, batch: list[Any]) -> Ingestion | None:
        """The state after a batch that is stored already; None if the batch may have something new."""

    def prepare(self, batch: list[Any], prepare: Prepare) -> dict[str, Entry]:
        """The messages of a batch that may be new, hashed and compressed, by id. Runs before the transaction."""

    def store(self, batch: list[Any], entries: dict[str, Entry], now: int) -> Ingestion:
        """Stores a batch in a transaction; the state afterwards. `self` stays as it is: transactions are retried."""

    def preview(self, batch: list[Any]) -> None:
        """Counts what is new in a batch and stores nothing."""

    def preview_result(self) -> ImportResult:
        """The expected result of everything that was previewed."""

    def finish(self, now: int) -> ImportResult:
        """Updates the sessions, inside the last transaction."""


def batches(items: Iterable[T | Skipped], skipped: list[Skipped]) -> Iterator[list[T]]:
    """Cuts items into batches of one type each. Skipped ones are appended to `skipped`."""
    batch: list[T] = []
    size = 0
    for item in items:
        if isinstance(item, Skipped):
            note_skipped(skipped, item)
            continue
        if batch and (type(batch[-1]) is not type(item) or len(batch) >= MESSAGES or size >= BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += _size(item.message) if isinstance(item, (ImportedMessage, Node)) else 0
    if batch:
        yield batch


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
    return SMALL_BLOCK


def note_skipped(skipped: list[Skipped], one: Skipped) -> None:
    """Appends a skipped item; without its content once there are many, so that a broken file cannot fill the memory."""
    skipped.append(one if len(skipped) < SKIPPED_WITH_CONTENT else Skipped(one.place, one.reason))


def prepare_messages(
    messages: Iterable[ImportedMessage | Node], prepare: Prepare, skipped: list[Skipped]
) -> dict[str, Entry]:
    """Messages hashed and compressed, by id. Invalid ones are skipped; an id that is repeated has the first message."""
    entries: dict[str, Entry] = {}
    for one in messages:
        if one.id in entries:
            continue
        try:
            (entries[one.id],) = prepare([one.message])
        except (Invalid, RecursionError) as error:
            note_skipped(skipped, Skipped(one.id, str(error)))
    return entries
