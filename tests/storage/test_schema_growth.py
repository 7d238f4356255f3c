"""A column that is added later is one line in rows.py and one in the schema; the trash from before is restored."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Corrupt, SchemaTooNew, Store, assistant, user
from bough.compress import compress
from bough.db.migrations import VERSION
from bough.storage import trash_payload
from bough.storage.trash_payload import TABLES, Deleted, pack, unpack

SOURCE = Path(bough.__file__).parent

IN_THE_NEXT_BOUGH = """
import sys
import bough
from bough.db.rows import SessionRow, TurnRow
assert TurnRow._fields[-1] == SessionRow._fields[-1] == "mood"
url, copied = sys.argv[1:]
with bough.connect(url) as store:
    for entry in store.trash():
        store.restore(entry.id)
    for key in ("versioned", "unversioned"):
        (turn,) = store.session(key).turns()
        assert turn.model == "oak-1", turn
        assert [node.message for node in store.session(key).path()] == [bough.user(key), bough.assistant("Yes.")]
    store.delete_session("versioned")
    store.session("new").save_turn([bough.user("a"), bough.assistant("b")])
    store.restore("versioned")
    assert store.verify() == []
    with bough.connect(copied) as target:
        store.delete_session("unversioned")
        store.copy_to(target)
        target.restore("unversioned")
        assert {info.key for info in target.sessions()} == {"versioned", "unversioned", "new"}
print("restored")
"""


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(request.getfixturevalue("empty")) if request.param == "postgres" else str(tmp_path / "a.db")


@pytest.fixture
def next_bough(tmp_path: Path) -> Path:
    """The source of a later bough, in which turns and sessions have one column more."""
    root = tmp_path / "next"
    shutil.copytree(SOURCE, root / "bough", ignore=shutil.ignore_patterns("__pycache__"))
    rows, migrations = root / "bough/db/rows.py", root / "bough/db/migrations.py"
    changed = re.sub(
        r"(class (?:Turn|Session)Row\(NamedTuple\):\n(?:    \w+: .*\n)+)",
        r"\1    mood: str | None = None\n",
        rows.read_text(),
    )
    rows.write_text(changed)
    migrations.write_text(re.sub(r"^VERSION = \d+", f"VERSION = {VERSION + 1}", migrations.read_text(), flags=re.M))
    for engine, schema in (("sqlite", ""), ("postgres", "bough.")):
        step = root / f"bough/db/schema/migrations/{VERSION + 1:04}-mood.{engine}.sql"
        add = [f"ALTER TABLE {schema}{table} ADD COLUMN mood text;" for table in ("turns", "sessions")]
        step.write_text("\n".join(add))
        complete = root / f"bough/db/schema/{engine}.sql"
        complete.write_text(complete.read_text() + "\n".join(add))
    run(root, "-m", "bough.db.postgres.namespaces")
    return root


def run(root: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def unversioned(deleted: Deleted) -> bytes:
    """A payload as it was written before it said of which schema its rows are."""
    rows = {name: getattr(deleted, name) for name in TABLES}
    return compress(json.dumps(rows, default=lambda data: {"$bytes": b64encode(data).decode()}).encode())


def delete(store: Store, key: str) -> None:
    store.session(key).save_turn([user(key), assistant("Yes.")], model="oak-1")
    store.delete_session(key)


def test_an_entry_from_before_a_column_was_added_is_restored(
    url: str, next_bough: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bough.connect(url) as store:
        delete(store, "versioned")
        with monkeypatch.context() as patch:
            patch.setattr("bough.storage.trash.pack", unversioned)
            delete(store, "unversioned")
    assert run(next_bough, "-c", IN_THE_NEXT_BOUGH, url, str(tmp_path / "copy.db")) == "restored\n"


def altered(**changes: Any) -> bytes:
    stored = {"schema": VERSION, "columns": {name: cls._fields for name, cls in TABLES.items()}} | changes
    return compress(json.dumps(stored).encode())


def test_what_an_older_payload_lacks_is_empty_and_what_there_is_no_more_is_left_out() -> None:
    columns = {"externals": ["value", "colour", "kind", "message", "session"]}
    (external,) = unpack(altered(columns=columns, externals=[["a", "green", "uuid", 1, None]])).externals
    assert external == ("uuid", "a", 1, None)
    assert unpack(pack(Deleted())) == unpack(altered()) == unpack(compress(b'{"messages": [], "blocks": []}'))


def test_a_payload_of_a_newer_schema_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SchemaTooNew, match=f"schema {VERSION + 1}, this one supports {VERSION}.*upgrade bough"):
        unpack(altered(schema=VERSION + 1, columns={}))
    with bough.connect(":memory:") as store:
        with monkeypatch.context() as patch:
            patch.setattr(trash_payload, "VERSION", VERSION + 1)
            delete(store, "later")
        with pytest.raises(SchemaTooNew):
            store.restore("later")
        assert store.session("later").path() == []


@pytest.mark.parametrize("payload", [b"{}", b"[]", b'{"schema": "x"}', b'{"messages": [[1]], "blocks": []}', b"no"])
def test_a_payload_that_is_none_is_corrupt(payload: bytes) -> None:
    with pytest.raises(Corrupt, match="damaged"):
        unpack(compress(payload))
