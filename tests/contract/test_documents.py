"""Documents: small JSON or bytes kept with a session, by compare-and-set."""

from __future__ import annotations

from typing import Any

import pytest

import bough
from bough import Conflict, Invalid, NotFound, assistant, user
from bough.storage.documents import LARGEST


@pytest.mark.parametrize(
    "value", [None, {"todo": ["oak", 1, 2.5, None, True]}, [], "text", "a\0b\ud800", 7, b"", b"\0\xff", "é" * 5000]
)
def test_a_document_comes_back_as_it_was_put(store: bough.Store, value: Any) -> None:
    session = store.session("cli:a")
    assert session.put_document("notes", value) == 1
    found = session.document("notes")
    assert (found.name, found.value, found.revision) == ("notes", value, 1)
    assert session.documents() == [found]


def test_each_write_has_a_new_revision_also_after_a_deletion(store: bough.Store) -> None:
    session = store.session("cli:a")
    assert [session.put_document("n", at) for at in range(3)] == [1, 2, 3]
    session.delete_document("n")
    with pytest.raises(NotFound, match="has no document 'n'"):
        session.document("n")
    assert session.documents() == []
    assert session.put_document("n", "again", revision=0) == 5


def test_compare_and_set_writes_only_at_the_revision_that_was_read(store: bough.Store) -> None:
    session = store.session("cli:a")
    assert session.put_document("n", 1, revision=0) == 1
    with pytest.raises(Conflict, match="is at revision 1, not at 0; nothing was written"):
        session.put_document("n", 2, revision=0)
    assert session.put_document("n", 2, revision=1) == 2
    with pytest.raises(Conflict, match="is at revision 2, not at 1"):
        session.delete_document("n", revision=1)
    assert session.document("n").value == 2
    session.delete_document("n", revision=2)
    with pytest.raises(Conflict, match="does not exist, not at 2"):
        session.put_document("n", 3, revision=2)


def test_deleting_a_document_that_is_not_there_is_an_error(store: bough.Store) -> None:
    with pytest.raises(NotFound):
        store.session("cli:a").delete_document("n")


@pytest.mark.parametrize("value", [b"x" * (LARGEST + 1), "x" * LARGEST])
def test_a_document_that_is_too_large_is_refused(store: bough.Store, value: Any) -> None:
    session = store.session("cli:a")
    with pytest.raises(Invalid, match="the most is 1,048,576; nothing was written"):
        session.put_document("n", value)
    assert session.documents() == []


def test_the_largest_document_is_kept(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.put_document("n", b"x" * LARGEST)
    assert session.document("n").value == b"x" * LARGEST


@pytest.mark.parametrize("name", ["", "x" * 201, "a\0b", 7])
def test_a_name_is_a_short_plain_text(store: bough.Store, name: Any) -> None:
    with pytest.raises(Invalid, match="name of a document"):
        store.session("cli:a").put_document(name, 1)


@pytest.mark.parametrize("revision", [-1, True, "1"])
def test_a_revision_is_a_whole_number(store: bough.Store, revision: Any) -> None:
    with pytest.raises(Invalid, match="revision"):
        store.session("cli:a").put_document("n", 1, revision=revision)


def test_what_is_no_json_is_refused(store: bough.Store) -> None:
    value: Any = object()
    with pytest.raises(Invalid):
        store.session("cli:a").put_document("n", value)


def test_a_fork_has_a_copy_that_changes_on_its_own(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.save_turn([user("ask"), assistant("reply")])
    session.put_document("n", "before")
    fork = session.fork()
    session.put_document("n", "after")
    assert fork.document("n").value == "before"
    assert fork.put_document("n", "own", revision=1) == 2
    assert session.document("n").value == "after"


def test_documents_are_deleted_and_restored_with_their_session(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.put_document("n", {"a": 1})
    session.put_document("b", b"bytes")
    kept = session.documents()
    store.delete_session("cli:a")
    with pytest.raises(NotFound):
        session.documents()
    assert store.verify() == []
    store.restore("cli:a")
    assert session.documents() == kept
    store.delete_session("cli:a", keep=False)
    assert store.session("cli:a").documents() == []


def test_documents_are_copied_with_the_store(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.put_document("n", {"a": 1})
    session.put_document("gone", 1)
    source = getattr(store, "sync", store)
    with bough.connect(":memory:") as target:
        source.copy_to(target)
        session.put_document("n", 2)
        session.delete_document("gone")
        source.copy_to(target)
        assert target.session("cli:a").documents() == session.documents()


def test_a_document_of_a_session_that_is_gone_is_found_and_repaired(anywhere: dict[str, Any]) -> None:
    with bough.connect(**anywhere) as store:
        store.session("cli:a").put_document("kept", 1)
        store.db.transact(lambda: store.db.run("put_document", 99, "lost", 1, "1", None, 0))
        (found,) = store.verify(repair=True)
        assert (found.code, found.subject) == ("homeless_document", "lost")
        assert store.verify() == []
        assert [document.name for document in store.list_documents()] == ["kept"]


def test_writing_a_document_is_a_change(store: bough.Store) -> None:
    session = store.session("cli:a")
    cursor = store.cursor()
    session.put_document("n", 1)
    session.delete_document("n")
    assert [(change.kind, change.session) for change in store.changes(cursor)] == [("document", "cli:a")] * 2


def test_documents_are_listed_by_the_beginning_of_their_names_and_between_two(store: bough.Store) -> None:
    session = store.session("cli:a")
    session.put_documents({name: name for name in ["a", "b", "b/1", "b/2", "b/3", "c"]})

    def names(*args: Any, **kwargs: Any) -> list[str]:
        return [document.name for document in session.documents(*args, **kwargs)]

    assert names("b/") == ["b/1", "b/2", "b/3"]
    assert names("b") == ["b", "b/1", "b/2", "b/3"]
    assert names("b/", after="b/1", before="b/3") == ["b/2"]
    assert names("b/", descending=True, limit=2) == ["b/3", "b/2"]
    assert names(names=["c", "nothing", "a"]) == ["a", "c"]
    session.delete_document("b/2")
    assert names("b/", limit=2) == ["b/1", "b/3"]
    with pytest.raises(Invalid):
        session.documents(limit=-1)


def test_several_documents_are_written_and_deleted_all_or_none(store: bough.Store) -> None:
    session = store.session("cli:a")
    assert session.put_documents({"a": 1, "b": b"2"}) == {"a": 1, "b": 1}
    assert session.put_documents({"a": 2}, delete=["b"], revisions={"a": 1, "c": 0}) == {"a": 2, "b": 2}
    for wrong in ({"revisions": {"a": 1}}, {"revisions": {"b": 2}}):
        with pytest.raises(Conflict):
            session.put_documents({"a": 3, "d": 1}, **wrong)
    with pytest.raises(NotFound):
        session.put_documents({"d": 1}, delete=["b"])
    assert [(found.name, found.value) for found in session.documents()] == [("a", 2)]
