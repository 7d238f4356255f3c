"""Almost valid files: unexpected values are kept or skipped, and nothing breaks."""

from __future__ import annotations

import json
import random
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import bough
from bough import Store
from bough.errors import ImporterError
from bough.importers import get
from bough.importers.common.sqlite import is_sqlite
from bough.model import Json
from bough.model.imported import Skipped
from tests.importers.sample import Sample, opened
from tests.importers.samples import SAMPLES

STRANGE: list[Json] = [
    None,
    True,
    0,
    -1,
    1e300,
    "",
    "x",
    "2026-01-01",
    [],
    [1],
    ["x", None],
    {},
    {"type": "text"},
    {"a": {}},
]
ODD = ["x", "", None, 7, -1, 1e300, b"\xff\0", "a\0b", "k" * 600, "a:delegate:b", "2026-01-01"]
"""Values that SQLite accepts in any column."""
WAYS = 8


@pytest.fixture
def store() -> Iterator[Store]:
    with bough.connect(":memory:") as opened_store:
        yield opened_store


def spoil(value: Json, chance: random.Random) -> Json:
    """The value with another value somewhere inside."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        if chance.random() < 0.15:
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: spoil(value[key], chance)}
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        return [*value[:at], spoil(value[at], chance), *value[at + 1 :]]
    return chance.choice(STRANGE)


def spoil_text(text: str, chance: random.Random) -> str:
    try:
        return json.dumps(spoil(json.loads(text), chance))
    except ValueError:
        return text


def spoil_lines(path: Path, chance: random.Random) -> None:
    lines = path.read_text().splitlines()
    at = chance.randrange(len(lines)) if lines else 0
    path.write_text("".join(f"{spoil_text(line, chance) if at == n else line}\n" for n, line in enumerate(lines)))


def spoil_rows(path: Path, chance: random.Random) -> None:
    """Another value in one column of one row, or in the JSON that it holds."""
    with opened(path) as connection:
        tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = chance.choice([name for name in tables if not name.startswith("sqlite") and "_fts" not in name])
        column = chance.choice([row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')])
        try:
            rows = list(connection.execute(f'SELECT rowid, "{column}" FROM "{table}"'))[:50]
        except apsw.SQLError:
            return  # a table without numbers
        for rowid, value in rows:
            if chance.random() < 0.3:
                new = spoil_text(value, chance) if isinstance(value, str) and value[:1] in "[{" else chance.choice(ODD)
                try:
                    connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (new, rowid))
                except apsw.Error:
                    continue


def files(path: Path) -> Iterator[Path]:
    yield from sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]


def spoil_one(path: Path, chance: random.Random) -> None:
    chosen = chance.choice([file for file in files(path) if file.suffix in (".json", ".jsonl", ".db") or file == path])
    if is_sqlite(chosen):
        spoil_rows(chosen, chance)
    elif chosen.suffix == ".jsonl":
        spoil_lines(chosen, chance)
    elif not zipfile.is_zipfile(chosen) and chosen.suffix == ".json":
        chosen.write_text(spoil_text(chosen.read_text(), chance))


def spoilable(sample: Sample) -> bool:
    return "UTF-16" not in sample.about


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if spoilable(sample)], ids=str)
def test_nothing_that_a_file_may_say_breaks_an_import(sample: Sample, store: Store, tmp_path: Path) -> None:
    for way in range(WAYS):
        place = tmp_path / str(way)
        place.mkdir()
        path = sample.make(place)
        chance = random.Random(f"{sample} {way}")
        for _ in range(1 + way % 3):
            spoil_one(path, chance)
        bring(store, sample, path)
    assert store.verify() == []


def bring(store: Store, sample: Sample, path: Path) -> None:
    with suppress(ImporterError):  # the whole file is refused, and says so
        for found in get(sample.source).read(path):
            if not isinstance(found, Skipped):
                assert store.bring_in(found).status
