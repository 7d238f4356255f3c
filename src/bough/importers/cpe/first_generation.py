"""The first version of CPE's file: prompts as plain text, replies as Go memory dumps (gob).

Only Go can decode the replies; each is kept as a document with its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bough.formats.payload import text_or_none
from bough.importers.common.sqlite import Tables
from bough.importers.common.synthetic_ids import dated, parents_first
from bough.importers.common.timestamps import from_iso
from bough.model import Media, assistant, user
from bough.model.imported import Conversation, ImportedMessage, Item, Skipped

COLUMNS = ("id", "parent_id", "user_message", "executor_data", "created_at", "model")


def read(tables: Tables, source: str) -> Iterator[Conversation]:
    """The conversations that a file has in this version."""
    if "executor_data" not in tables.columns("conversations"):
        return
    rows = {row["id"]: row for row in tables.rows("conversations", ("id", "parent_id", "created_at"))}
    parents = dict(parents_first({id: row["parent_id"] for id, row in rows.items()}))
    ids = {id: dated(id, row["created_at"]) for id, row in rows.items()}
    members: dict[str, list[str]] = {}
    roots: dict[str, str] = {}
    for id, parent in parents.items():
        roots[id] = roots[parent] if parent is not None else id
        members.setdefault(roots[id], []).append(id)
    for root, some in members.items():
        parent_ids = {id: ids.get(parents[id] or "") for id in some}
        yield Conversation(source, ids[root], _items(tables, parent_ids), f"{source}:{root}")


def _items(tables: Tables, parent_ids: dict[str, str | None]) -> Iterator[Item]:
    for id, parent in parent_ids.items():
        (row,) = tables.rows("conversations", COLUMNS, blobs=("executor_data",), id=id)
        yield from _turn(row, parent)


def _turn(row: dict[str, Any], parent: str | None) -> Iterator[Item]:
    id, time, model = dated(row["id"], row["created_at"]), from_iso(row["created_at"]), text_or_none(row["model"])
    prompt_id = f"{id}:prompt"
    yield ImportedMessage(prompt_id, user(row["user_message"] or ""), parent, time)
    dump = row["executor_data"] if isinstance(row["executor_data"], bytes) else b""
    reply = Media("document", "application/x-gob", dump, name="executor_data")
    yield ImportedMessage(id, assistant(reply), prompt_id, time, model=model)
    yield Skipped(f"conversations {row['id']}", "Only Go can decode the reply; its bytes are kept as a document.")
