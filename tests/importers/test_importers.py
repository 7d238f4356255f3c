"""One suite for all importers: reading, the tree, repetition, growth, truncated files, skipped content."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import bough
from bough import ImporterError, Store, assistant, user
from bough.importers import detect, get, names
from bough.model.imported import ImportResult, Skipped
from tests.importers.helpers import import_path
from tests.importers.sample import Sample
from tests.importers.samples import SAMPLES


@dataclass(frozen=True)
class ImportedSample:
    """A sample that was imported into a store of its own."""

    sample: Sample
    path: Path
    store: Store
    results: list[ImportResult]
    skipped: list[Skipped]


@pytest.fixture(scope="module", params=SAMPLES, ids=str)
def imported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImportedSample]:
    sample: Sample = request.param
    path = sample.make(tmp_path_factory.mktemp("sample"))
    with bough.connect(tmp_path_factory.mktemp("store") / "bough.db") as store:
        yield ImportedSample(sample, path, store, *import_path(store, path))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sample").mkdir()
    return tmp_path / "sample"


def conversations(results: list[ImportResult]) -> int:
    """The number of conversations: results with one session are one; an archive has several without."""
    archived = sum(one.conversations for one in results if one.session is None and one.status != "empty")
    return len({one.session for one in results if one.session}) + archived


def test_it_is_recognised_and_read(imported: ImportedSample) -> None:
    sample, store = imported.sample, imported.store
    assert detect(imported.path).name == sample.source
    assert conversations(imported.results) == sample.conversations
    assert sum(one.added for one in imported.results) == sample.messages == sum(1 for _ in store.list_messages())
    assert store.verify() == []


def test_the_tree_is_kept(imported: ImportedSample) -> None:
    sample, store = imported.sample, imported.store
    nodes = {node.id: node for node in store.list_messages()}
    above = {
        node.message.text: nodes[node.parent_id].message.text if node.parent_id else None for node in nodes.values()
    }
    assert {text: above.get(text, "not there") for text in sample.edges} == dict(sample.edges)
    stands = {key: store.session(key).path()[-1:] for key in sample.sessions}
    assert {key: path[0].message.text if path else None for key, path in stands.items()} == dict(sample.sessions)


def test_what_is_not_understood_is_reported_with_its_place(imported: ImportedSample) -> None:
    assert len(imported.skipped) == len(imported.sample.skipped), imported.skipped
    for one, expected in zip(imported.skipped, imported.sample.skipped, strict=True):
        assert expected in one.place
        assert one.reason


def test_a_second_import_adds_nothing(imported: ImportedSample) -> None:
    store = imported.store
    before = (list(store.list_messages()), store.sessions(), store.turns(), store.usage())
    again, _ = import_path(store, imported.path)
    assert {one.status for one in again} <= {"known", "empty"}
    assert (list(store.list_messages()), store.sessions(), store.turns(), store.usage()) == before


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.grow], ids=str)
def test_growth_is_added(sample: Sample, store: Store, place: Path) -> None:
    path = sample.make(place)
    import_path(store, path)
    assert sample.grow
    sample.grow(path)
    results, _ = import_path(store, path)
    assert sum(one.added for one in results) == sample.grown
    assert not any(one.elsewhere for one in results)
    assert sum(one.added for one in import_path(store, path)[0]) == 0
    assert store.verify() == []


@pytest.mark.parametrize("sample", [sample for sample in SAMPLES if sample.tear], ids=str)
def test_a_torn_end_loses_only_itself_and_is_made_good_later(sample: Sample, store: Store, place: Path) -> None:
    path = sample.make(place)
    assert sample.tear
    sample.tear(path)
    results, skipped = import_path(store, path)
    assert len(skipped) > len(sample.skipped)
    assert sum(one.added for one in results) <= sample.messages
    for leftover in sorted(place.rglob("*"), reverse=True):
        leftover.rmdir() if leftover.is_dir() else leftover.unlink()
    import_path(store, sample.make(place))
    assert sum(1 for _ in store.list_messages()) == sample.messages
    assert store.verify() == []


@pytest.mark.parametrize("name", names())
def test_every_importer_has_samples_and_says_what_it_is(name: str) -> None:
    importer = get(name)
    assert importer.name == name
    assert importer.title
    assert any(sample.source == name for sample in SAMPLES)
    assert all(path.exists() for path in importer.default_paths())


def test_a_store_of_boughs_own_is_not_a_file_of_another_program(store: Store, place: Path) -> None:
    with bough.connect(place / "other.db"):
        with pytest.raises(ImporterError, match="export --all"):
            detect(place / "other.db")


@pytest.mark.parametrize(("format", "kind"), [("md", "a Markdown export of bough"), ("html", "a page of HTML")])
def test_an_export_for_reading_is_named_with_what_to_import_instead(place: Path, format: str, kind: str) -> None:
    with bough.connect(place / "x.db") as store:
        store.session("cli:x").save_turn([user("hi"), assistant("yo")])
    command = [sys.executable, "-m", "bough", "--db", str(place / "x.db"), "export", "--all", "-f", format]
    (place / f"all.{format}").write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    with pytest.raises(ImporterError, match=rf"is {kind}, made for reading.*`bough export -f jsonl`"):
        detect(place / f"all.{format}")


def test_what_nobody_knows_is_refused(place: Path) -> None:
    (place / "notes.txt").write_text("Dear diary")
    with pytest.raises(ImporterError, match="looks like none"):
        detect(place / "notes.txt")
    with pytest.raises(ImporterError, match="no file or directory"):
        detect(place / "missing")
    with pytest.raises(ImporterError, match="There is no importer"):
        get("nothing")
