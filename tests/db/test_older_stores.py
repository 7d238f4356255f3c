"""Stores that former versions have written are migrated when they are opened, and then are like any other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

import bough
from bough import Store, Usage, assistant, user
from bough.db.migrations import VERSION, steps
from bough.exporters.jsonl import everything
from bough.importers.bough_jsonl import IMPORTER
from bough.model.imported import Archive

STORES = Path(__file__).parent / "stores"
TOTAL = Usage(913, 103, 20, 8, 2.51)
"""What the version that wrote the store says of it."""


def unpacked(version: int, target: Path) -> Path:
    packed = (STORES / f"version-{version}.store.zst").read_bytes()
    target.write_bytes(zstandard.ZstdDecompressor().decompressobj().decompress(packed))
    return target


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store of version 3: six sessions, 20 turns and two entries in the trash."""
    return unpacked(3, tmp_path / "old.db")


@pytest.fixture
def store(file: Path) -> Iterator[Store]:
    with bough.connect(file) as opened:
        yield opened


def test_a_store_of_version_3_opens_and_verifies_clean(store: Store) -> None:
    assert store.verify() == []
    assert (store.size().messages, store.size().turns, store.size().trashed) == (43, 20, 2)


def test_the_totals_of_version_3_are_those_from_before(store: Store) -> None:
    (total,) = store.usage()
    assert (total.turns, total.usage, total.unpriced) == (20, TOTAL, 14)
    assert [(t.name, t.turns, t.usage, t.unpriced) for t in store.usage(by="model")] == [
        (None, 15, Usage(7, 7, cost=0.01), 14),
        ("small", 5, Usage(906, 96, 20, 8, 2.5), 0),
    ]
    by_session = {t.name: (t.turns, t.usage, t.unpriced) for t in store.usage(by="session")}
    assert by_session["cli:garden"] == (7, Usage(906, 96, 20, 8, 2.5), 2)
    assert by_session["cli:garden:delegate:scout"] == (1, Usage(7, 7, cost=0.01), 0)
    assert by_session["telegram:42"] == (9, Usage(), 9)
    (day,) = store.usage(by="day")
    assert (day.name, day.usage) == ("2026-11-18", TOTAL)


def test_every_turn_of_version_3_with_figures_has_one_reply(store: Store) -> None:
    priced = [turn for turn in store.turns() if turn.usage != Usage()]
    assert len(priced) == 6
    for turn in priced:
        (reply,) = store.replies(turn=turn.id)
        assert (reply.message_id, reply.turn_id, reply.session) == (turn.last_id, turn.id, turn.session)
        assert (reply.model, reply.request_id, reply.usage) == (turn.model, turn.request_id, turn.usage)
    assert len(store.replies()) == len(priced)


def test_the_trash_of_version_3_is_restored_with_its_figures(store: Store) -> None:
    before = sum(turn.usage.output_tokens or 0 for turn in store.turns())
    for entry in store.trash():
        store.restore(entry.id)
    assert store.verify() == []
    (total,) = store.usage()
    assert total.turns == store.size().turns > 20
    assert total.usage.output_tokens == sum(turn.usage.output_tokens or 0 for turn in store.turns()) >= before


def test_every_verb_works_on_a_store_of_version_3(store: Store, tmp_path: Path) -> None:
    garden = store.session("cli:garden")
    garden.save_turn([user("More?"), assistant("More.")], model="big", usage=Usage(1, 2, cost=0.5))
    with garden.turn("And then?") as turn:
        turn.add(assistant("Then water it."), model="big", usage=Usage(3, 4))
    garden.fork().save_turn([user("Else?"), assistant("Dig.")])
    assert garden.compact(lambda nodes: f"{len(nodes)} messages about a garden.", keep_turns=1)
    assert store.search("water")
    unfinished = next(turn for turn in garden.turns() if turn.status == "interrupted")
    store.label(unfinished.id, "left")
    garden.rewind(turns=1)
    store.delete_session("telegram:42")
    store.restore("telegram:42")
    assert store.usage()[0].usage == TOTAL + Usage(4, 6, cost=0.5)
    with bough.connect(tmp_path / "copy.db") as target:
        store.copy_to(target)
        assert target.usage(by="model") == store.usage(by="model")
        assert target.verify() == []
    assert store.verify() == []


def test_an_archive_of_version_3_has_the_same_figures(store: Store, tmp_path: Path) -> None:
    archive = tmp_path / "all.jsonl"
    archive.write_text("".join(everything(store)), encoding="utf-8")
    older = tmp_path / "older.jsonl"  # as version 3 wrote it: without a line for each reply
    lines = archive.read_text("utf-8").splitlines(keepends=True)
    older.write_text("".join(line for line in lines if not line.startswith('{"reply"')), encoding="utf-8")
    for path in (archive, older):
        with bough.connect(tmp_path / f"{path.stem}.db") as target:
            for read in IMPORTER.read(path):
                assert isinstance(read, Archive)
                target.bring_in(read)
            assert target.usage(by="model") == store.usage(by="model")
            assert [t.usage for t in target.turns()] == [t.usage for t in store.turns()]
            assert target.verify() == []


def test_a_store_of_version_4_is_pinned_expired_restored_and_copied_as_any(tmp_path: Path) -> None:
    with bough.connect(unpacked(4, tmp_path / "old.db")) as store, bough.connect(tmp_path / "copy.db") as target:
        assert store.verify() == []
        session = store.session("cli:oaks")
        assert (session.info.pinned, session.info.expires, session.document("todo").value) == (None, None, ["water"])
        session.pin()
        store.pin(session.path()[0].id)
        store.session("telegram:7").expire(after=0)
        assert [info.key for info in store.clean(0)] == [
            "cli:fork", "telegram:7", "cli:cleared"
        ]  # fmt: skip
        for entry in store.trash():
            store.restore(entry.id)
        assert store.session("cli:gone").document("kept").value == 1
        store.copy_to(target)
        assert (target.pins(), target.sessions(), target.verify()) == (store.pins(), store.sessions(), [])
        assert store.verify() == []


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_each_migration_has_a_number_of_its_own_and_the_last_is_the_version(engine: str) -> None:
    numbers = [number for number, _ in steps(engine)]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == VERSION
