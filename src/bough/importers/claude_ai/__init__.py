"""Claude.ai: the export from its settings, as a zip, a directory or `conversations.json` alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import text_or_none
from bough.importers.claude_ai.messages import FAMILY, read_messages
from bough.importers.common.exports import conversations, holds
from bough.importers.common.files import open_files
from bough.importers.common.synthetic_ids import parents_first
from bough.importers.common.timestamps import from_iso
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

NAME = "claude.ai"
KEPT_ELSEWHERE = {"uuid", "name", "created_at", "updated_at", "account", "chat_messages", "model"}


class ClaudeAI:
    """Reads every branch of every conversation."""

    name = NAME
    title = "Claude.ai"

    def recognises(self, path: Path) -> bool:
        return holds(path, b'"chat_messages"')

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for place, record in conversations(files, lambda one: from_iso(one.get("updated_at"))):
                yield record if isinstance(record, Skipped) else _conversation(record, place)

    def default_paths(self) -> list[Path]:
        return []


def _conversation(record: Json, place: str) -> Conversation | Skipped:
    if (
        not isinstance(record, dict)
        or not isinstance(record.get("uuid"), str)
        or not _is_list(record.get("chat_messages"))
    ):
        return Skipped(place, "It is not a conversation.", record)
    chat = ChatTree(record["uuid"], record["chat_messages"], place)
    rest = {key: value for key, value in record.items() if value and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        record["uuid"],
        chat.items(),
        head=chat.head(text_or_none(record.get("current_leaf_message_uuid"))),
        title=text_or_none(record.get("name")) or None,
        model=text_or_none(record.get("model")),
        created_at=from_iso(record.get("created_at")),
        updated_at=from_iso(record.get("updated_at")),
        extra={FAMILY: rest} if rest else None,
    )


def _is_list(value: Json) -> bool:
    return isinstance(value, list)


class ChatTree:
    """The messages of one conversation: a tree if the export has parents, else a path."""

    def __init__(self, conversation: str, messages: list[Json], place: str) -> None:
        self._place = place
        self._malformed = [(at, one) for at, one in enumerate(messages) if not isinstance(one, dict)]
        named = [one for one in messages if isinstance(one, dict)]
        self._messages = {text_or_none(one.get("uuid")) or f"{conversation}:{at}": one for at, one in enumerate(named)}
        is_tree = any(one.get("parent_message_uuid") in self._messages for one in named)
        self._parents = self._tree() if is_tree else self._linear()
        self._messages_of = {name: read_messages(one, name) for name, one in self._messages.items()}

    def head(self, leaf: str | None) -> str | None:
        """The id of the current message: that of the export, else the newest leaf."""
        if leaf is not None and leaf in self._messages:
            return self._last_id(leaf)
        followed = set(self._parents.values())
        leaves = [name for name in self._messages if name not in followed]
        newest = max(leaves, key=lambda name: from_iso(self._messages[name].get("created_at")) or 0, default=None)
        return self._last_id(newest) if newest else None

    def items(self) -> Iterator[Item]:
        for number, one in self._malformed:
            yield Skipped(f"{self._place}.chat_messages[{number}]", "The message is not an object.", one)
        for name, parent in parents_first(self._parents):
            yield from self._parts(name, self._last_id(parent) if parent is not None else None)

    def _parts(self, name: str, parent: str | None) -> Iterator[ImportedMessage]:
        record = self._messages[name]
        for position, message in enumerate(self._messages_of[name]):
            id = _part_id(name, position)
            cut = message.role == "assistant" and record.get("stop_reason") == "user_canceled"
            provider = "anthropic" if message.role == "assistant" else None
            yield ImportedMessage(
                id, message, parent, from_iso(record.get("created_at")), provider=provider, finished=not cut
            )
            parent = id

    def _last_id(self, name: str) -> str:
        return _part_id(name, len(self._messages_of[name]) - 1)

    def _linear(self) -> dict[str, str | None]:
        names = list(self._messages)
        return dict(zip(names, [None, *names], strict=False))

    def _tree(self) -> dict[str, str | None]:
        """Parents by uuid. The parent of a root is a sentinel that is not among the messages: None."""
        above = {name: text_or_none(one.get("parent_message_uuid")) for name, one in self._messages.items()}
        return {name: parent if parent in self._messages else None for name, parent in above.items()}


def _part_id(name: str, position: int) -> str:
    """The id of one of the messages that a Claude.ai message becomes."""
    return f"{name}#{position}" if position else name


IMPORTER: Importer = ClaudeAI()
