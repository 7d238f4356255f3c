"""Sessions of goose: two generations of its database, the earlier files, and an export."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.importers.sample import FILES, Sample, append, chop, database, insert

LINES = "20250801_070000.jsonl"
SESSION = "20260501_1"


def newest(place: Path) -> Path:
    return database(place / "sessions.db", (FILES / "goose" / "newest.sql").read_text())


def older(place: Path) -> Path:
    return database(place / "sessions.db", (FILES / "goose" / "older.sql").read_text())


def lines(place: Path) -> Path:
    return Path(shutil.copy(FILES / "goose" / LINES, place))


def directory(place: Path) -> Path:
    newest(place)
    lines(place)
    return place


def export(place: Path) -> Path:
    """An export of the session in the older database."""
    said = [("user", "Mend the fence."), ("assistant", "Mended.")]
    conversation = [
        {"role": role, "created": 1756728000 + second, "content": [{"type": "text", "text": text}]}
        for second, (role, text) in enumerate(said)
    ]
    told = {
        "id": "20250901_120000",
        "working_dir": "/home/user/fence",
        "conversation": conversation,
        "name": "The fence",
    }
    (place / "fence.json").write_text(json.dumps(told))
    return place / "fence.json"


def go_on(path: Path) -> None:
    """Compaction by goose, which rewrites all rows: ids stay, row numbers change."""
    database(path, "UPDATE messages SET id = id + 1000")
    said = {"type": "text", "text": "And a door."}
    row = {"session_id": SESSION, "role": "user", "content_json": json.dumps([said]), "created_timestamp": 1777622500}
    insert(path, "messages", {**row, "message_id": "m9"})


SAMPLES = [
    Sample(
        "goose",
        "the newest database",
        newest,
        conversations=3,
        messages=13,
        skipped=("messages:12",),
        edges={
            "Build a shed.": None,
            "Summary: half a shed stands.": "Half of it stands.",
            "The roof, please.": "I go on from the summary.",
            "Hello.": "",
        },
        sessions={f"goose:{SESSION}": "It has a roof.", "goose:20260501_2": "Painted."},
        grow=go_on,
        grown=1,
    ),
    Sample("goose", "the first database", older, conversations=1, messages=2, edges={"Mended.": "Mend the fence."}),
    Sample(
        "goose",
        "lines of JSON",
        lines,
        conversations=1,
        messages=4,
        skipped=(f"{LINES}:5",),
        sessions={"goose:20250801_070000": "It is quiet now."},
        grow=lambda path: append(path, {"role": "user", "created": 1754031700, "content": []}),
        grown=1,
        tear=chop,
    ),
    Sample("goose", "the directory of both", directory, conversations=4, messages=17, skipped=(":12", f"{LINES}:5")),
    Sample("goose", "an export", export, conversations=1, messages=2),
]
