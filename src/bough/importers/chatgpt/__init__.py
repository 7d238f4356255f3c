"""ChatGPT: the export that its settings offer, as a zip, a directory or the file of conversations alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import text_or_none
from bough.importers.chatgpt.assets import Assets
from bough.importers.chatgpt.mapping import Mapping
from bough.importers.common.exports import conversations, holds
from bough.importers.common.files import open_files
from bough.importers.common.timestamps import from_seconds
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
    """Every branch of every conversation."""

    name = NAME
    title = "ChatGPT"

    def recognises(self, path: Path) -> bool:
        return holds(path, b'"mapping"')

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            assets = Assets(files)
            for place, told in conversations(files, lambda one: from_seconds(one.get("update_time"))):
                yield told if isinstance(told, Skipped) else _conversation(told, place, assets)

    def places(self) -> list[Path]:
        return []


def _conversation(told: Json, place: str, assets: Assets) -> Conversation | Skipped:
    name = told.get("conversation_id") or told.get("id") if isinstance(told, dict) else None
    if not isinstance(name, str) or not isinstance(told.get("mapping"), dict):
        return Skipped(place, "not a conversation", told)
    mapping = Mapping(name, told["mapping"], place, assets)
    rest = {key: value for key, value in told.items() if value and key not in KEPT_ELSEWHERE}
    return Conversation(
        NAME,
        name,
        mapping.items(),
        head=mapping.head(told.get("current_node")),
        title=text_or_none(told.get("title")),
        model=text_or_none(told.get("default_model_slug")),
        created_at=from_seconds(told.get("create_time")),
        updated_at=from_seconds(told.get("update_time")),
        extra={NAME: rest} if rest else None,
    )


IMPORTER = ChatGPT()
