"""ChatGPT: the export from its settings, as a zip, a directory or `conversations.json` alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import text_or_none
from bough.importers.chatgpt.assets import Assets
from bough.importers.chatgpt.mapping import Mapping
from bough.importers.common.exports import conversations, holds
from bough.importers.common.files import open_files
from bough.importers.common.timestamps import from_seconds
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

NAME = "chatgpt"
KEPT_ELSEWHERE = {
    "title",
    "create_time",
    "update_time",
    "mapping",
    "current_node",
    "conversation_id",
    "id",
    "default_model_slug",
}


class ChatGPT:
    """Reads every branch of every conversation."""

    name = NAME
    title = "ChatGPT"

    def recognises(self, path: Path) -> bool:
        return holds(path, b'"mapping"')

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            assets = Assets(files)
            for place, record in conversations(files, lambda record: from_seconds(record.get("update_time"))):
                yield record if isinstance(record, Skipped) else _conversation(record, place, assets)

    def default_paths(self) -> list[Path]:
        return []


def _conversation(record: Json, place: str, assets: Assets) -> Conversation | Skipped:
    name = record.get("conversation_id") or record.get("id") if isinstance(record, dict) else None
    if not isinstance(name, str) or not isinstance(record.get("mapping"), dict):
        return Skipped(place, "It is not a conversation.", record)
    mapping = Mapping(name, record["mapping"], place, assets)
    rest = {key: value for key, value in record.items() if value and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        name,
        mapping.items(),
        head=mapping.head(record.get("current_node")),
        title=text_or_none(record.get("title")),
        model=text_or_none(record.get("default_model_slug")),
        created_at=from_seconds(record.get("create_time")),
        updated_at=from_seconds(record.get("update_time")),
        extra={NAME: rest} if rest else None,
    )


IMPORTER: Importer = ChatGPT()
