"""Rows of older versions, whose texts are compressed in their row: readable as they are, and rewritten by `migrate`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bough
from bough import Message, Store, Text, Thinking, ToolCall, ToolResult, assistant, user
from bough.codec import encode
from bough.compress import compress
from bough.storage import rewrite

WORDS = "an old tree whose leaves are gone "
SAID = [f"{number} {WORDS * 20}" for number in range(7)]
UNPLAIN = f"nul \0 {WORDS * 20}"


def packed(text: str, data: bytes) -> tuple[str | None, bytes | None, encode.Blob | None]:
    """Where earlier versions placed a text."""
    if len(text) <= 512 and "\0" not in text:
        return text, None, None
    return (None, None, encode.make_blob(data)) if len(data) > 8192 else (None, compress(data), None)


@pytest.fixture
def old(anywhere: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that an earlier version filled."""
    with monkeypatch.context() as earlier, bough.connect(**anywhere) as store:
        earlier.setattr(encode, "place_text", packed)
        session = store.session("cli:old", title="leaves")
        for said in SAID:
            call = ToolCall("c", "look", f'{{"at": "{said}"}}')
            session.save_turn([user(said), Message("assistant", (Thinking(said), Text(said), call)),
                               Message("tool_result", (ToolResult("c", (Text(said),)),)), assistant(said)])  # fmt: skip
        session.save_turn([user(UNPLAIN), assistant("short")])
    with bough.connect(**anywhere) as store:
        yield store


def packed_rows(store: Store) -> int:
    return len(store.db.rows("packed_messages", 0, 1000)) + len(store.db.rows("packed_blocks", 0, 0, 1000))


def check(store: Store) -> None:
    """Everything that reads texts, over rows of either shape."""
    path = store.session("cli:old").path()
    assert [node.message.text for node in path[:-2:4]] == SAID
    assert path[-2].message.text == UNPLAIN
    assert len(store.search("leaves", limit=100)) == len(path) - 1
    assert all(head.words.startswith(("0", "1", "look")) for head in store.headlines([node.id for node in path[:8]]))
    assert b"".join(store.content(path[0].id)).decode() == SAID[0]
    assert b"".join(store.content(path[1].id, 1)).decode() == SAID[0]
    assert store.verify() == []


def test_rows_of_both_shapes_are_read_and_mix(old: Store) -> None:
    check(old)
    assert packed_rows(old) > 30
    before = packed_rows(old)
    old.session("cli:new").save_turn([user(SAID[0]), assistant(SAID[1])])
    assert packed_rows(old) == before


def test_old_rows_are_deleted_restored_and_copied(old: Store) -> None:
    old.search("leaves")
    old.delete_session("cli:old")
    assert old.search("leaves") == []
    old.restore("cli:old")
    check(old)
    with bough.connect(":memory:") as copy:
        old.copy_to(copy)
        check(copy)


def test_migrate_makes_them_plain_in_pages_while_others_write(
    old: Store, anywhere: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rewrite, "PAGE", 3)
    before = packed_rows(old)
    seen: list[tuple[int, int | None]] = []
    with bough.connect(**anywhere, patience=0.2) as other:

        def progress(done: int, total: int | None) -> None:
            seen.append((done, total))
            other.session("cli:other").save_turn([user("meanwhile"), assistant("yes")])

        assert old.migrate(progress) == before - 1
    assert len(seen) >= before / 3
    assert packed_rows(old) == 1  # no column can hold that text plain
    check(old)
    assert old.migrate() == 0


def test_an_interrupted_migrate_is_continued(old: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "PAGE", 3)
    before = packed_rows(old)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        old.migrate(interrupt)
    assert packed_rows(old) == before - 3
    check(old)
    assert old.migrate() == before - 4
    check(old)


def test_an_entry_of_the_trash_from_before_is_restored_and_rewritten(old: Store) -> None:
    old.delete_session("cli:old")
    assert old.migrate() == 0
    old.restore("cli:old")
    assert old.migrate() > 30
    check(old)


@pytest.mark.parametrize("anywhere", ["sqlite"], indirect=True)
def test_a_damaged_row_stays_for_verify_to_report(old: Any) -> None:
    ((first, _),) = old.db.rows("packed_messages", 0, 1)
    old.db._use().execute("UPDATE messages SET packed = x'00' WHERE n = ?", (first,))
    before = packed_rows(old)
    assert old.migrate() == before - 2
    assert {finding.code for finding in old.verify()} == {"unreadable"}
