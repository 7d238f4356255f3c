"""Data of opencode: its database, and the earlier files in two layouts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.importers.sample import FILES, Sample, chop, database

TIME = 1760000000000
SAID = [("user", "Paint the door."), ("assistant", "Which colour?"), ("user", "Green."), ("assistant", "It is green.")]


def db(place: Path) -> Path:
    return database(place / "opencode.db", (FILES / "opencode" / "opencode.sql").read_text())


def write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


def say(storage: Path, session: str, number: int, role: str, text: str, part: str) -> None:
    message = f"msg_{session[4:]}{number}"
    time = {"created": TIME + number, "completed": TIME + number}
    info = {"id": message, "sessionID": session, "role": role, "time": time, "modelID": "gpt-5", "providerID": "openai"}
    write(storage / "message" / session / f"{message}.json", info)
    said = {"id": f"prt_{number}", "messageID": message, "sessionID": session, "type": "text", "text": text}
    write(storage / part.format(session=session, message=message) / f"prt_{number}.json", said)


def session(storage: Path, name: str, folder: str, part: str) -> None:
    info = {"id": name, "directory": "/home/user/door", "title": "The door", "time": {"created": TIME}}
    write(storage / "session" / folder / f"{name}.json", info)
    for number, (role, text) in enumerate(SAID):
        say(storage, name, number, role, text, part)


def storage(place: Path) -> Path:
    session(place / "storage", "ses_door", "0a1b2c", "part/{message}")
    return place


def first_layout(place: Path) -> Path:
    """The layout of the first versions, by project."""
    session(place / "project/home-user-door/storage/session", "ses_old", "info", "part/{session}/{message}")
    inside = place / "project/home-user-door/storage/session/session/info"
    inside.rename(place / "project/home-user-door/storage/session/info")
    return place


def both(place: Path) -> Path:
    db(place)
    session(place / "storage", "ses_8nails", "0a1b2c", "part/{message}")
    return storage(place)


def finish(path: Path) -> None:
    """Complete the unfinished reply."""
    database(
        path,
        """UPDATE message SET data = json_set(data, '$.time.completed', 1770000009900) WHERE id = 'msg_0d';
        UPDATE part SET data = json_set(data, '$.text', 'I am nailing.') WHERE id = 'prt_0d0'""",
    )


EDGES: dict[str, str | None] = {
    "Mend the roof.\nA file was attached.": None,
    "There is a hole.": "",
    "Nail it.": "Summary: there are nails now.",
    "Removed.": "Remove it.",
    "Laid.": "Lay a tile.",
}

SAMPLES = [
    Sample(
        "opencode",
        "its database",
        db,
        conversations=4,
        messages=21,
        skipped=("message:msg_o1",),
        edges=EDGES,
        sessions={"opencode:ses_8nails": "ten nails", "opencode:ses_7gutter": "Clean."},
        grow=finish,
        grown=1,
    ),
    Sample(
        "opencode",
        "files before the database",
        storage,
        conversations=1,
        messages=4,
        edges={"Green.": "Which colour?"},
        sessions={"opencode:ses_door": "It is green."},
        grow=lambda path: say(path / "storage", "ses_door", 7, "user", "Thanks.", "part/{message}"),
        grown=1,
        tear=lambda path: chop(path / "storage/part/msg_door3/prt_3.json"),
    ),
    Sample("opencode", "the first layout of the files", first_layout, conversations=1, messages=4),
    Sample(
        "opencode",
        "both, of which one session is in both",
        both,
        conversations=5,
        messages=25,
        skipped=("message:msg_o1",),
        edges=EDGES,
        sessions={"opencode:ses_8nails": "ten nails", "opencode:ses_door": "It is green."},
    ),
]
