"""What bough exports it can bring in again: equal in an empty store, beside what is there in any other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import ImporterError, Store, assistant, user
from bough.exporters import jsonl
from bough.importers import detect
from bough.model.imported import Archive, ImportResult
from bough.model.values import replace


def exported(store: Store, path: Path) -> Path:
    path.write_text("".join(jsonl.everything(store)))
    return path


def import_archive(store: Store, path: Path, **how: Any) -> ImportResult:
    importer = detect(path)
    assert importer.name == "bough"
    (archive,) = importer.read(path)
    assert isinstance(archive, Archive)
    return store.bring_in(archive, **how)


def everything(store: Store) -> tuple[Any, ...]:
    """All that a store says of itself, less what only says how it came to be here."""
    names = [name for name in store.list_names() if name.kind not in jsonl.OWN]
    sessions = [replace(info, cursor=0) for info in store.sessions()]
    documents = sorted(store.list_documents(), key=lambda document: (document.session, document.name))
    rest = list(store.list_turns()), names, store.pins(), documents
    return list(store.list_messages(ascending=True)), sessions, *rest


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "origin.db") as store:
        session = store.session("cli:oaks", title="Oaks", directory="/wood", extra={"a": 1})
        session.save_turn([user("one"), assistant("two")], model="m", idempotency_key="k")
        session.save_turn([user("three"), assistant("four")])
        session.compact(lambda nodes: f"{len(nodes)} messages", keep_turns=1)
        store.fork(session.path()[1].id, "cli:fork", title="Fork").save_turn([user("other"), assistant("way")])
        with session.delegate("scout").turn("look") as turn:
            turn.fail("nothing there")
        store.label(session.path()[0].id, "root")
        store.name_externally("uuid", "u-1", message=session.path()[0].id)
        store.name_externally("conversation", "c-1", session="cli:oaks")
        store.pin(session.path()[0].id)
        for name, value in (("state", {"a": [1, None]}), ("nothing", None), ("picture", b"\x00\xff"), ("text", "\x00")):
            session.put_document(name, value)
        session.put_document("state", {"a": 2}, revision=1)
        store.session("cli:fork").expire(after=60)
        session.pin()
        session.delegate("scout").expire(2 * 10**15)
        store.save_messages([bough.Save(user("alone"))])
        yield store


def test_an_empty_store_becomes_equal(origin: Store, store: Store, tmp_path: Path) -> None:
    result = import_archive(store, exported(origin, tmp_path / "all.jsonl"))
    assert (result.status, result.added, result.conversations) == ("new", 9, 3)
    assert everything(store) == everything(origin)
    assert store.verify() == []


def test_bringing_it_in_again_adds_nothing_and_growth_follows(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    import_archive(store, path)
    assert (import_archive(store, path).added, everything(store)) == (0, everything(origin))
    origin.session("cli:oaks").save_turn([user("five"), assistant("six")])
    assert import_archive(store, exported(origin, path)).added == 2
    assert store.session("cli:oaks").head == origin.session("cli:oaks").head
    assert len(list(store.list_turns())) == len(list(origin.list_turns()))


def test_the_store_it_came_from_knows_it_and_stays_as_it_is(origin: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    origin.session("cli:oaks").save_turn([user("five"), assistant("six")])
    before = everything(origin)
    assert import_archive(origin, path).status == "known"
    assert everything(origin) == before


def test_a_backup_brings_back_what_was_deleted_where_it_was_made(origin: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    origin.delete_session("cli:fork", keep=False)
    assert import_archive(origin, path).added == 2
    assert [node.message.text for node in origin.session("cli:fork").path()] == ["one", "two", "other", "way"]


def test_elsewhere_what_was_deleted_stays_deleted_unless_asked_for(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    import_archive(store, path)
    store.delete_session("cli:fork")
    store.purge()
    assert (import_archive(store, path).added, store.find_session("cli:fork")) == (0, None)
    assert import_archive(store, path, again=True).added == 2
    assert store.session("cli:fork").path()[-1].message.text == "way"


def test_ids_and_keys_in_use_are_left_alone(origin: Store, store: Store, tmp_path: Path) -> None:
    store.session("cli:oaks").save_turn([user("mine"), assistant("own")])
    path = exported(origin, tmp_path / "all.jsonl")
    (first, *_) = store.list_messages(ascending=True)
    text = path.read_text().replace(json.loads(path.read_text().split("\n", 2)[1])["id"], first.id)
    path.write_text(text)
    result = import_archive(store, path)
    assert result.added == 9
    assert [node.message.text for node in store.session("cli:oaks").path()] == ["mine", "own"]
    assert [node.message.text for node in store.session("cli:oaks~2").path()][:2] == ["one", "two"]
    assert (import_archive(store, path).added, store.verify()) == (0, [])


def test_two_archives_that_differ_in_a_message_come_in_any_order_without_doubling(
    origin: Store, store: Store, tmp_path: Path
) -> None:
    path, other = exported(origin, tmp_path / "a.jsonl"), tmp_path / "b.jsonl"
    other.write_text(path.read_text().replace('"two"', '"another two"'))
    added = [import_archive(store, one).added for one in (path, other, path, other)]
    assert (added[2:], store.verify()) == ([0, 0], [])


def test_ids_that_no_store_mints_are_not_taken_over(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id": "", "parent": null, "time": 1, "role": "user", "blocks": []}\n'
                    '{"id": "-rf", "parent": "", "time": 2, "role": "assistant", "blocks": []}\n')  # fmt: skip
    assert import_archive(store, path).added == 2
    assert all(len(node.id) == 6 for node in store.list_messages())
    assert (import_archive(store, path).added, store.verify()) == (0, [])


def test_one_dialog_comes_with_its_session_and_turns(origin: Store, store: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    head = origin.session("cli:fork").head
    path.write_text("".join(jsonl.some(origin, [head or ""])))
    import_archive(store, path)
    assert [info.key for info in store.sessions()] == ["cli:fork"]
    assert store.session("cli:fork").path() == origin.session("cli:fork").path()
    assert len(list(store.list_turns())) == 2


def test_turns_and_names_of_some_messages_are_exported_without_the_others(origin: Store) -> None:
    first, *_ = origin.session("cli:oaks").path()
    assert list(origin.list_turns([first.id])) == [turn for turn in origin.list_turns() if turn.id == first.id]
    assert [name.value for name in origin.list_names([first.id])] == ["u-1"]
    assert not list(origin.list_turns([]))
    assert not list(origin.list_names([]))
    with pytest.raises(bough.NotFound):
        next(origin.list_turns(["zzzzzz"]))


def test_a_dry_run_counts_and_writes_nothing(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    assert import_archive(store, path, dry_run=True).added == 9
    assert everything(store) == ([], [], [], [], [], [])


def test_an_archive_in_which_messages_call_their_turn_turn_is_read(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    assert not any("role" in one and "turn" in one for one in map(json.loads, path.read_text().splitlines()))
    path.write_text(path.read_text().replace('"turn_id": ', '"turn": '))
    import_archive(store, path)
    assert everything(store) == everything(origin)


def test_lines_that_make_no_sense_are_skipped(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    odd = ['{"session": {"key": 7}}', '{"turn": {"id": "a", "last_id": "a", "status": "odd"}}', '{"name": []}', "{torn",
           '{"turn": {"id": "a", "last_id": "a", "status": "complete", "started_at": "x"}}',
           '{"turn": {"id": "a", "last_id": "a", "status": "complete", "instructions_digest": 7}}',
           '{"session": {"key": "cli:\\ud800"}}', '{"session": {"key": "cli:x", "revision": 1e99}}',
           '{"session": {"key": "cli:x", "extra": ' + "[" * 500 + "]" * 500 + "}}"]  # fmt: skip
    path.write_text(path.read_text() + "\n".join(odd) + "\n")
    result = import_archive(store, path)
    assert (result.added, len(result.skipped)) == (9, len(odd))


def test_an_archive_of_a_newer_version_is_refused_before_anything_is_imported(
    origin: Store, store: Store, tmp_path: Path
) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    header, rest = path.read_text().split("\n", 1)
    assert json.loads(header) == {"archive": {"version": 1}}
    path.write_text('{"archive": {"version": 2}}\n' + rest)
    with pytest.raises(ImporterError, match=r"newer bough .version 2, this one reads 1"):
        import_archive(store, path)
    assert (everything(store), store.verify()) == (([], [], [], [], [], []), [])


def test_an_archive_without_a_version_is_imported(origin: Store, store: Store, tmp_path: Path) -> None:
    path = exported(origin, tmp_path / "all.jsonl")
    _, rest = path.read_text().split("\n", 1)
    path.write_text(rest)
    assert import_archive(store, path).added == 9
    path.write_text('{"archive": {}}\n' + rest)
    imported = import_archive(store, path)
    assert [skipped.reason for skipped in imported.skipped] == ["all.jsonl:1.archive has no version."]


def test_documents_are_imported_and_replaced_only_by_later_ones(origin: Store, store: Store, tmp_path: Path) -> None:
    session = origin.session("cli:oaks")
    path = exported(origin, tmp_path / "all.jsonl")
    import_archive(store, path)
    copied = store.session("cli:oaks")
    assert (copied.document("state").revision, copied.document("picture").value) == (2, b"\x00\xff")
    copied.put_document("state", "here")
    session.put_document("picture", "later")
    import_archive(store, exported(origin, path))
    assert (copied.document("state").value, copied.document("picture").value) == ("here", "later")


def test_a_document_that_cannot_be_kept_is_skipped_and_the_rest_is_imported(store: Store, tmp_path: Path) -> None:
    path, large = tmp_path / "a.jsonl", "x" * 2_000_000
    lines = [{"archive": {"version": 1}}, {"session": {"key": "cli:a"}}]
    for name, content in (("", {"json": 1}), ("b", {"bytes": "§"}), ("c", {"json": large}), ("d", {"json": 1})):
        lines.append({"document": {"session": "cli:a", "name": name, "revision": 1, "updated_at": 1, **content}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = import_archive(store, path)
    assert [skipped.reason[:30] for skipped in result.skipped] == [
        "a.jsonl:4.document.bytes is no",
        "The name of a document is a pl",
        "That document has 2,000,002 by",
    ]
    assert [document.name for document in store.list_documents()] == ["d"]
