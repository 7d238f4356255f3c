"""Malicious and mislabelled files: refused with a clear error, and nothing is partly imported."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from bough import ImporterError, Store
from bough.importers import detect, get, names
from bough.importers.common.files import open_files
from bough.importers.common.json_reader import CHUNK, Line, json_items, json_lines, read_json
from bough.importers.common.sqlite import open_tables
from bough.importers.common.synthetic_ids import parents_first
from bough.model.imported import Conversation, ImportedMessage, Skipped
from tests.importers.helpers import import_path
from tests.importers.sample import Sample, halve, opened
from tests.importers.samples import SAMPLES

CHAT = json.dumps({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]})


def zipped(path: Path, fill: Callable[[zipfile.ZipFile], object]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    return path


def test_a_zip_bomb_does_not_go_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.importers.common.files.SUSPICIOUS_BYTES", 2**24)

    def fill(archive: zipfile.ZipFile) -> None:
        with archive.open("conversations.json", "w", force_zip64=True) as file:
            for _ in range(32):
                file.write(bytes(2**20))

    path = zipped(tmp_path / "bomb.zip", fill)
    assert path.stat().st_size < 2**16
    with pytest.raises(ImporterError, match="suspiciously much"), open_files(path):
        pass


@pytest.mark.parametrize("name", ["../../evil.json", "/etc/evil.json", "a/../../evil.json", "..\\evil.json"])
def test_a_zip_that_names_files_outside_itself_is_refused(tmp_path: Path, name: str) -> None:
    path = zipped(tmp_path / "chats.zip", lambda archive: archive.writestr(name, CHAT))
    with pytest.raises(ImporterError, match="outside itself"), open_files(path):
        pass
    assert [file.name for file in tmp_path.iterdir()] == ["chats.zip"]


def test_whoever_asks_what_it_is_hears_why_it_is_refused(tmp_path: Path) -> None:
    path = zipped(tmp_path / "chats.zip", lambda archive: archive.writestr("../conversations.json", CHAT))
    with pytest.raises(ImporterError, match="outside itself"):
        detect(path)
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(ImporterError, match="damaged"):
        detect(path)
    path.write_bytes(b"SQLite format 3\0 and then nothing")
    with pytest.raises(ImporterError, match="not a database"):
        detect(path)


def test_links_in_zips_and_directories_are_not_followed(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("secret.json")
    link.external_attr = 0o120777 << 16
    path = zipped(tmp_path / "chats.zip", lambda archive: archive.writestr(link, "/etc/passwd"))
    with open_files(path) as files:
        assert files.names == ()
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "secret.json").symlink_to("/etc/passwd")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.json")
    (folder / "chat.json").write_text(CHAT)
    with open_files(folder) as files:
        assert files.names == ("chat.json",)


@pytest.mark.parametrize("harm", ["encrypted", "damaged", "cut off"])
def test_a_zip_that_cannot_be_read_is_refused(tmp_path: Path, harm: str) -> None:
    path = zipped(tmp_path / "chats.zip", lambda archive: archive.writestr("chats.jsonl", CHAT * 50))
    data = bytearray(path.read_bytes())
    if harm == "encrypted":
        data[6] |= 1
        data[data.rindex(b"PK\x01\x02") + 8] |= 1
    elif harm == "damaged":
        data[60:70] = bytes(10)
    path.write_bytes(data[:-30] if harm == "cut off" else data)
    with pytest.raises(ImporterError), open_files(path) as files, files.open("chats.jsonl") as file:
        file.read()


def test_absurd_json_is_skipped_with_its_place_and_the_rest_is_read(store: Store, tmp_path: Path) -> None:
    absurd = ["[" * 200_000, '{"a":' * 100_000, "1" * 10_000, "NaN", '{"messages": Infinity}', '"\\ud800"', "\x00\x01"]
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join([CHAT, *absurd, CHAT]) + "\n")
    results, skipped = import_path(store, path)
    assert [one.place for one in skipped] == [f"chats.jsonl:{number}" for number in range(2, len(absurd) + 2)]
    assert sum(one.added for one in results) == 2
    assert store.verify() == []


def test_deeply_nested_content_is_skipped_not_fatal(store: Store, tmp_path: Path) -> None:
    nested: object = "x"
    for _ in range(400):
        nested = [nested]
    deep = {"role": "user", "content": [{"type": "odd", "deep": nested}]}
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"messages": [deep, {"role": "user", "content": "b"}]}))
    results, _ = import_path(store, path)
    assert results[0].added >= 1


def test_a_line_that_is_too_long_is_skipped_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bough.importers.common.json_reader.LONGEST_LINE", 1000)
    stream = io.BytesIO(b'{"a": 1}\n"' + b"x" * 5_000_000 + b'"\n{"b": 2}\n')
    first, long, last = json_lines(stream, "file")
    assert isinstance(first, Line)
    assert isinstance(last, Line)
    assert (first.value, last.value, last.place) == ({"a": 1}, {"b": 2}, "file:3")
    assert isinstance(long, Skipped)
    assert "longer than" in long.reason


def test_a_list_is_read_item_by_item_and_a_torn_one_up_to_its_tear() -> None:
    whole = json.dumps([{"n": number, "text": "é" * 50_000} for number in range(60)], ensure_ascii=False).encode()
    numbers = [item if isinstance(item, Skipped) else item["n"] for item in json_items(io.BytesIO(whole), "list")]
    assert numbers == list(range(60))
    *found, torn = json_items(io.BytesIO(whole[:-30_000]), "list")
    assert found == json.loads(whole)[:59]
    assert isinstance(torn, Skipped)
    assert torn.place == "list[59]"
    assert list(json_items(io.BytesIO(b" [1, 23 ,\n456]"), "list")) == [1, 23, 456]
    with pytest.raises(ImporterError, match="not a list"):
        list(json_items(io.BytesIO(b'{"a": 1}'), "list"))
    with pytest.raises(ImporterError, match="not JSON"):
        read_json(io.BytesIO(b"[1,"), "file")


def test_an_item_of_a_list_that_is_no_json_costs_only_itself() -> None:
    bad = ('{"n": NaN}', '{"a" "]}"}', "[" * 100_000 + "]" * 100_000, '{"big": ' + "1" * 5_000 + "}")
    text = json.dumps({"n": 1}) + "," + ",".join(bad) + ', {"n": 2}'
    first, *skipped, last = json_items(io.BytesIO(f"[{text}]".encode()), "list")
    assert (first, last) == ({"n": 1}, {"n": 2})
    assert [one.place for one in skipped if isinstance(one, Skipped)] == [f"list[{n}]" for n in range(1, 5)]
    *_, torn = json_items(io.BytesIO(f'[{text}, {{"n": '.encode()), "list")
    assert isinstance(torn, Skipped)
    assert "in the middle" in torn.reason


def test_an_export_in_utf_16_is_recognised_and_read(tmp_path: Path) -> None:
    chat = {"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": "Grüße", "content": []}]}
    (tmp_path / "conversations.json").write_text(json.dumps([chat], ensure_ascii=False), "utf-16")
    (found,) = detect(tmp_path).read(tmp_path)
    assert isinstance(found, Conversation)
    assert [item.message.text for item in found.items if isinstance(item, ImportedMessage)] == ["Grüße"]


def test_what_is_nobodys_is_refused_whatever_it_pretends_to_be(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "noise").write_bytes(bytes(range(256)) * 300)
    (tmp_path / "liar.json").write_bytes(b"SQLite format 3\0" + bytes(200))
    (tmp_path / "liar.db").write_text("{}")
    (tmp_path / "liar.zip").write_bytes(b"PK\x03\x04" + bytes(50))
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for path in tmp_path.iterdir():
        with pytest.raises(ImporterError, match=r"looks like none|damaged|not a database"):
            detect(path)


@pytest.mark.parametrize("name", names())
def test_what_is_called_a_source_and_is_not_is_an_error_or_nothing(name: str, tmp_path: Path) -> None:
    lies = [b"", b"\xff\xfe", b"SQLite format 3\0" + bytes(500), b"PK\x03\x04junk", b"[[[", b"{}"]
    for number, content in enumerate(lies):
        path = tmp_path / f"file{number}"
        path.write_bytes(content)
        try:
            found = list(get(name).read(path))
        except ImporterError:
            continue
        items = [item for one in found if not isinstance(one, Skipped) for item in one.items]
        assert all(isinstance(item, Skipped) for item in items)


DATABASES = {sample.source: sample for sample in SAMPLES if sample.source in ("cpe", "pingu", "egirl", "orcx")}


@pytest.mark.parametrize("sample", DATABASES.values(), ids=str)
def test_a_damaged_database_is_an_error_and_nothing_of_it_looks_done(
    sample: Sample, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "sample").mkdir()
    path = sample.make(tmp_path / "sample")
    halve(path)
    importer = get(sample.source)
    with pytest.raises(ImporterError):
        for found in importer.read(path):
            if not isinstance(found, Skipped):
                store.bring_in(found)
    assert all(info.head_id is None for info in store.sessions())


def test_views_triggers_and_functions_of_a_database_are_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "evil.db"
    with opened(path) as connection:
        connection.execute("CREATE TABLE real (a); INSERT INTO real VALUES (1)")
        connection.execute("CREATE VIEW conversations AS SELECT randomblob(1000000000) AS key, 'x' AS value")
    assert not get("amazon-q").recognises(path)
    with open_tables(path) as tables:
        assert tables.names == {"real"}
        assert list(tables.rows("conversations", ["key"])) == []


def test_cycles_and_missing_parents_are_resolved() -> None:
    ordered = list(parents_first({"a": "c", "b": "a", "c": "b", "d": "d", "e": "gone", "f": "a"}))
    seen: set[str] = set()
    for name, parent in ordered:
        assert parent is None or parent in seen
        seen.add(name)
    assert seen == set("abcdef")
    assert dict(ordered)["f"] == "a"


def test_nothing_is_left_behind_in_the_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "chats.jsonl"
    path.write_text(CHAT)
    list(detect(path).read(path))
    assert [file.name for file in tmp_path.iterdir()] == ["chats.jsonl"]


@pytest.mark.parametrize("short_of_the_end", [0, 1, 5, 20, 400])
def test_a_bad_item_where_a_window_ends_costs_only_itself(short_of_the_end: int) -> None:
    good, bad = json.dumps({"text": "x" * 50}), '{"text": "y", "number": nonsense}'
    before = [good] * ((CHUNK - short_of_the_end) // (len(good) + 1))
    stream = io.BytesIO(f"[{','.join([*before, bad, good, good])}]".encode())
    found = list(json_items(stream, "list.json"))
    assert [type(one) for one in found] == [*[dict] * len(before), Skipped, dict, dict]
