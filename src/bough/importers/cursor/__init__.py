"""Cursor: `state.vscdb` of the user, with every composer and its bubbles as JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bough.formats.payload import at, text_or_none
from bough.importers.common.json_reader import parse_json_or_none
from bough.importers.common.order import latest_last
from bough.importers.common.sqlite import Tables, has_tables, open_tables
from bough.importers.common.timestamps import from_any
from bough.importers.common.vscode import user_directories, workspace_folder
from bough.importers.cursor.composer import Composer
from bough.importers.types import Importer
from bough.model import Json
from bough.model.imported import Conversation, Skipped

NAME = "cursor"
TABLE = "cursorDiskKV"
DATABASE = "state.vscdb"
PREFIX = "composerData:"


class CursorDatabase:
    """Reads `globalStorage/state.vscdb`, or a directory with it."""

    name = NAME
    title = "Cursor"

    def recognises(self, path: Path) -> bool:
        file = _database(path)
        if not has_tables(file, **{TABLE: ("key", "value")}):
            return False
        with open_tables(file, in_place=True) as tables:
            return next(tables.beginning(TABLE, ("key",), "key", PREFIX), None) is not None

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        # The database also holds credentials: it is read in place, and only composers and bubbles.
        file = _database(path)
        folders = _folders(file.parent.parent)
        with open_tables(file, in_place=True) as tables:
            used, names = _composers(tables)
            yield from names
            for id, _ in latest_last(used.items(), lambda item: item[1], lambda item: item[0]):
                yield Composer(tables, TABLE, id, _value(tables, id)).conversation(folders.get(id))

    def default_paths(self) -> list[Path]:
        found = [user / "globalStorage" / DATABASE for user in user_directories("Cursor")]
        return [path for path in found if path.is_file()]


def _database(path: Path) -> Path:
    inside = (path / DATABASE, path / "globalStorage" / DATABASE, path / "User" / "globalStorage" / DATABASE)
    return next((file for file in inside if file.is_file()), path) if path.is_dir() else path


def _composers(tables: Tables) -> tuple[dict[str, int], list[Skipped]]:
    """The composers with messages by id, with the time of their last use; and those that are not JSON."""
    used: dict[str, int] = {}
    skipped = []
    for row in tables.beginning(TABLE, ("key", "value"), "key", PREFIX):
        value = parse_json_or_none(row["value"])
        if not isinstance(value, dict):
            if row["value"] is not None:
                skipped.append(Skipped(str(row["key"]), "It is not a JSON object.", str(row["value"])[:2000]))
        elif value.get("fullConversationHeadersOnly") or value.get("conversation"):
            id = str(row["key"]).removeprefix(PREFIX)
            used[id] = from_any(value.get("lastUpdatedAt")) or from_any(value.get("createdAt")) or 0
    return used, skipped


def _value(tables: Tables, id: str) -> dict[str, Json]:
    (row,) = tables.rows(TABLE, ("value",), key=f"{PREFIX}{id}")
    value = parse_json_or_none(row["value"])
    return value if isinstance(value, dict) else {}


def _folders(user: Path) -> dict[str, str]:
    """The folder of each composer, from the databases of the workspaces."""
    found: dict[str, str] = {}
    for file in sorted((user / "workspaceStorage").glob(f"*/{DATABASE}")):
        folder = workspace_folder(file.parent)
        if folder is None or not has_tables(file, ItemTable=("key", "value")):
            continue
        with open_tables(file, in_place=True) as tables:
            for row in tables.rows("ItemTable", ("value",), key="composer.composerData"):
                composers = at(parse_json_or_none(row["value"]), "allComposers")
                for one in composers if isinstance(composers, list) else ():
                    if id := text_or_none(at(one, "composerId")):
                        found[id] = folder
    return found


IMPORTER: Importer = CursorDatabase()
