"""orcx's `conversations.db`: one row per conversation, with a JSON list of messages without times or ids."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bough.formats.payload import text_or_none
from bough.importers.common.json_reader import parse_json
from bough.importers.common.sqlite import has_tables, open_tables
from bough.importers.common.synthetic_ids import chained, dated
from bough.importers.common.timestamps import from_iso
from bough.importers.types import Importer
from bough.model import Json, Message, Role, Text
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

COLUMNS = ("id", "model", "agent", "title", "messages", "total_tokens", "total_cost", "created_at", "updated_at")
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}


class Orcx:
    name = "orcx"
    title = "orcx"

    def recognises(self, path: Path) -> bool:
        return has_tables(path, conversations=("id", "model", "messages", "total_tokens"))

    def default_paths(self) -> list[Path]:
        return [path for path in [Path.home() / ".config" / "orcx" / "conversations.db"] if path.is_file()]

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_tables(path) as tables:
            for row in tables.rows("conversations", COLUMNS, order="updated_at,rowid"):
                place = f"{path.name}: conversations {row['id']}"
                try:
                    messages = parse_json(row["messages"] or "")
                except ValueError as error:
                    yield Skipped(place, f"Its messages are not JSON: {error}", row)
                    continue
                if isinstance(messages, list):
                    yield conversation(row, messages, place)
                else:
                    yield Skipped(place, "Its messages are not a list.", row)


def conversation(row: dict[str, Any], messages: list[Json], place: str) -> Conversation:
    # Ids of four characters are reused soon: the time makes them unique.
    id = dated(row["id"], row["created_at"])
    totals = {name: row[name] for name in ("total_tokens", "total_cost") if row[name]}
    return Conversation(
        Orcx.name, id, _items(id, row["model"], messages, place), f"orcx:{row['id']}",
        title=text_or_none(row["title"]), model=text_or_none(row["model"]), agent=text_or_none(row["agent"]),
        created_at=from_iso(row["created_at"]), updated_at=from_iso(row["updated_at"]), extra=totals or None,
    )  # fmt: skip


def _items(id: str, model: str | None, messages: list[Json], place: str) -> Iterator[Item]:
    parent = None
    for number, (item, name) in enumerate(zip(messages, chained(messages, id), strict=True)):
        if not isinstance(item, dict) or not isinstance(item.get("content"), str):
            yield Skipped(f"{place} message {number}", "It has no text.", item)
            continue
        role = ROLES.get(str(item.get("role")))
        if role is None:
            yield Skipped(f"{place} message {number}", f"The role {item.get('role')!r} is unknown; kept as a note.")
        message = Message(role or "system", (Text(item["content"], extra=None if role else item),))
        yield ImportedMessage(
            name, message, parent, from_iso(item.get("timestamp")), model=model if role == "assistant" else None
        )
        parent = name


IMPORTER: Importer = Orcx()
