"""Files edited with other tools: `verify` finds the damage, and repairs what can be repaired."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw
import pytest

import bough
from bough import (
    Media,
    Save,
    Store,
    assistant,
    tool_call,
    user,
)
from bough.db.sqlite.driver import SQLite

from .processes import time_limit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with bough.connect(path) as opened:
        yield opened


@contextmanager
def by_hand(store: Store, path: Path) -> Iterator[apsw.Connection]:
    """Edits the file as a hand would: past every rule that bough and the schema have."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
    yield connection
    connection.close()


def codes(store: Store, repair: bool = False) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in store.verify(repair=repair):
        found.setdefault(finding.code, []).append(finding.subject)
    return found


def chain(store: Store, *texts: str) -> list[str]:
    saves: list[Save] = []
    for text in texts:
        saves.append(Save(user(text), saves[-1] if saves else None))
    return store.save_messages(saves)


def test_a_parent_cycle_ends_the_path_and_is_found(store: Store, path: Path) -> None:
    a, b, c = chain(store, "a", "b", "c")
    store.fork(c, key="cli:a")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET parent = (SELECT n FROM messages WHERE id = ?) WHERE id = ?", (c, a))
    with pytest.raises(bough.Corrupt):
        store.path(c)
    with pytest.raises(bough.Corrupt):
        store.session("cli:a").path()
    with pytest.raises(bough.Corrupt):
        bough.get_dialog(store, c)
    assert codes(store)["cycle"] == [a]
    assert len(store.children(a)) == 1
    store.forest()
    assert sum(1 for tree in store.forest(b) for _ in tree.walk()) <= 3
    store.search("a", paths=True)
    store.session("cli:a").info  # noqa: B018
    store.delete_messages([a], recursive=True)
    assert list(store.list_messages()) == []
    assert store.verify() == []


def test_a_message_that_is_its_own_parent_ends_the_path_and_is_found(store: Store, path: Path) -> None:
    (a,) = chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET parent = n")
    with pytest.raises(bough.Corrupt):
        store.path(a)
    assert codes(store)["cycle"] == [a]
    assert sum(1 for tree in store.forest(a) for _ in tree.walk()) <= 1
    store.delete_messages([a], recursive=True, keep=False)
    assert store.verify() == []


def test_an_orphan_is_found_and_loading_its_path_is_an_error(store: Store, path: Path) -> None:
    a, b, c = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM messages WHERE id = ?", (a,))
    assert codes(store)["orphan"] == [b]
    with pytest.raises(bough.Corrupt):
        store.path(c)


def test_a_changed_text_is_found(store: Store, path: Path) -> None:
    _, b, _ = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET content = 'B' WHERE id = ?", (b,))
    assert codes(store) == {"digest": [b]}
    assert codes(store, repair=True) == {"digest": [b]}  # nothing safe can be done about it
    assert codes(store) == {"digest": [b]}


@pytest.mark.parametrize(
    "change",
    ["UPDATE messages SET role = 'assistant' WHERE id = ?", "UPDATE messages SET error = 1 WHERE id = ?",
     "UPDATE messages SET parent = NULL WHERE id = ?", "UPDATE messages SET digest = x'00' WHERE id = ?"],
)  # fmt: skip
def test_a_changed_message_is_found(store: Store, path: Path, change: str) -> None:
    _, b, _ = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute(change, (b,))
    assert b in codes(store)["digest"]


def test_a_message_with_a_changed_parent_is_found(store: Store, path: Path) -> None:
    a, _, c = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET parent = (SELECT n FROM messages WHERE id = ?) WHERE id = ?", (a, c))
    assert codes(store) == {"digest": [c]}


BIG = "big " * 5000


def test_a_missing_blob_is_found_and_reading_it_is_an_error(store: Store, path: Path) -> None:
    (a,) = store.save_messages([Save(user(BIG))])
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM blob_bytes")
    assert a in codes(store)["missing_blob"]
    (node,) = store.get_messages([a])  # all but its content is there
    for _ in range(2):
        with pytest.raises(bough.Corrupt, match=a):
            node.message  # noqa: B018
    with pytest.raises(bough.Corrupt):
        list(store.content(a))


def test_a_damaged_blob_is_found_and_reading_it_is_an_error(store: Store, path: Path) -> None:
    (a,) = store.save_messages([Save(user(BIG))])
    with by_hand(store, path) as hand:
        hand.execute("UPDATE blob_bytes SET bytes = x'28b52ffd00'")
    assert "damaged_blob" in codes(store)
    for node in (*store.get_messages([a]), *store.list_messages(), *store.path(a)):
        with pytest.raises(bough.Corrupt, match=a):
            node.message  # noqa: B018
    with pytest.raises(bough.Corrupt):
        list(store.content(a))


def test_a_damaged_label_is_found_and_loading_it_is_an_error(store: Store, path: Path) -> None:
    a, b = store.save_messages([Save(user("a"), label="\ud800"), Save(user("b"))])
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET label = substr(label, 1, 2) WHERE label IS NOT NULL")
    assert codes(store) == {"unreadable": [a]}
    with pytest.raises(bough.Corrupt, match=a):
        store.get_messages([a])
    assert store.get_messages([b])[0].message == user("b")


def test_a_wrong_blob_count_is_found_and_repaired(store: Store, path: Path) -> None:
    a, b = store.save_messages([Save(user(BIG)), Save(user(BIG))])
    store.delete_messages([b])  # the trash holds it too
    for wrong in (1, 9):
        with by_hand(store, path) as hand:
            hand.execute("UPDATE blobs SET refs = ?", (wrong,))
        assert list(codes(store)) == ["blob_count"]
        assert all(finding.repaired for finding in store.verify(repair=True))
        assert store.verify() == []
    store.delete_messages([a], keep=False)
    store.restore(b)
    assert store.get_messages([b])[0].message.text == BIG


def test_a_dangling_head_is_found_and_repaired(store: Store, path: Path) -> None:
    session = store.session("cli:a")
    session.save_turn([user("a"), assistant("b")])
    last = session.save_turn([user("c"), assistant("d")])
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM messages WHERE id IN (?, ?)", tuple(last))
    assert {"dangling_head", "broken_turn"} <= set(codes(store))
    store.verify(repair=True)
    assert store.verify() == []
    assert [node.message.text for node in session.path()] == ["a", "b"]
    session.save_turn([user("e"), assistant("f")])
    assert len(session.path()) == 4


def test_a_session_that_was_moved_by_hand_is_found_where_it_stands_after_a_repair(store: Store, path: Path) -> None:
    session, other = store.session("cli:a"), store.session("cli:b")
    first = session.save_turn([user("a"), assistant("b")])
    last = other.save_turn([user("c"), assistant("d")])
    with by_hand(store, path) as hand:
        hand.execute("UPDATE sessions SET head = (SELECT n FROM messages WHERE id = ?) WHERE key = 'cli:b'", first[-1:])
    assert codes(store) == {"hidden_head": ["cli:b"]}
    store.verify(repair=True)
    assert store.verify() == []
    assert [info.key for info in store.sessions_through(first[0])] == ["cli:b", "cli:a"]
    store.delete_session("cli:a")
    assert [node.id for node in other.path()] == first
    assert store.get_messages(last)


def test_blocks_without_a_message_are_found_and_repaired(store: Store, path: Path) -> None:
    chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("INSERT INTO blocks (message, position, type, content) VALUES (999, 1, 'text', 'lost')")
    assert "homeless_block" in codes(store)
    store.verify(repair=True)
    assert store.verify() == []


def test_a_missing_block_is_found_and_loading_its_message_is_an_error(store: Store, path: Path) -> None:
    (a,) = store.save_messages([Save(user("one", "two", "three"))])
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM blocks WHERE position = 2")
    assert codes(store)["missing_block"] == [a]
    with pytest.raises(bough.Corrupt, match=f"{a}.*1 further blocks, and not 2"):
        store.get_messages([a])[0].message  # noqa: B018


def test_an_abandoned_turn_is_found_and_repaired(store: Store, path: Path) -> None:
    session = store.session("cli:a")
    turn = session.turn("question")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE sessions SET lease_until = 1")
    assert list(codes(store)) == ["abandoned_turn"]
    store.verify(repair=True)
    assert store.verify() == []
    assert [info.id for info in session.turns(status="interrupted")] == [turn.id]


def test_a_damaged_trash_entry_is_found_and_others_can_be_restored(store: Store, path: Path) -> None:
    a, b = store.save_messages([Save(user("a")), Save(user("b"))])
    store.delete_messages([a])
    store.delete_messages([b])
    with by_hand(store, path) as hand:
        hand.execute("UPDATE trash SET payload = x'00112233' WHERE n = 1")
    assert "trash" in codes(store)
    assert len(store.trash()) == 2
    store.restore(b)
    with pytest.raises(bough.BoughError):
        store.restore(a)
    store.purge()
    assert store.verify() == []


@pytest.mark.parametrize(
    "damage",
    [f"UPDATE {table} SET {change}" for table in ("messages", "blocks")
     for change in ("type = 'nonsense'", "raw = '{broken'", "raw = '~{\"$bough\": [99]}'",
                    "extra = '~[{\"$bough\": 7}]'", "content = NULL, packed = x'00'", "content = NULL")]
    + ["UPDATE messages SET envelope = '['", "UPDATE messages SET label = char(1) || '{'",
       "UPDATE messages SET type = NULL", "UPDATE messages SET blocks = 0", "UPDATE messages SET blocks = 7",
       "UPDATE blocks SET position = position + 5", "DELETE FROM blocks"],
)  # fmt: skip
def test_any_edited_column_is_an_error_when_read_or_is_found(store: Store, path: Path, damage: str) -> None:
    (a,) = store.save_messages([Save(assistant(tool_call("c", "look", {"a": 1}), "words"), label="l")])
    with by_hand(store, path) as hand:
        hand.execute(damage)
    for read in (lambda: store.get_messages([a]), lambda: list(store.list_messages()), lambda: store.search("words")):
        with suppress(bough.BoughError):
            read()
    assert codes(store), "verify did not notice"


def test_text_that_is_not_utf8_is_an_error(store: Store, path: Path) -> None:
    (a,) = chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET content = CAST(x'ff61' AS TEXT)")
    with pytest.raises(bough.Corrupt):
        store.get_messages([a])
    assert "engine" in codes(store)


def swap_first_and_last_cell(path: Path, table: str) -> None:
    """Puts the rows of a small table out of order, as a page that was written to the wrong place does."""
    connection = apsw.Connection(str(path))
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).get
    size = connection.pragma("page_size")
    connection.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    assert data[start] == 13, "the table has grown out of one page"
    cells = int.from_bytes(data[start + 3 : start + 5], "big")
    first, last = start + 8, start + 8 + 2 * (cells - 1)
    data[first : first + 2], data[last : last + 2] = data[last : last + 2], data[first : first + 2]
    path.write_bytes(data)


@pytest.mark.parametrize("table", ["messages", "blocks", "blobs"])
def test_rows_out_of_order_cause_no_endless_loop_and_are_found(tmp_path: Path, table: str) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        ids = chain(store, "a", "b", "c", "d", "e")
        store.save_messages([Save(user("look", Media("image", "image/png", data=bytes([n])))) for n in range(5)])
    swap_first_and_last_cell(path, table)
    with bough.connect(path) as store:
        reads: list[Callable[[], object]] = [
            lambda: list(store.list_messages()),
            lambda: list(store.list_messages(ascending=True)),
            store.forest,
            lambda: store.search("a"),
            lambda: store.path(ids[-1]),
        ]
        for read in reads:
            with time_limit(), suppress(bough.BoughError):
                read()
        with time_limit():
            assert codes(store)


def repeat_the_first_leaf(path: Path, table: str) -> None:
    """Makes every branch of a larger table lead to its first leaf."""
    connection = apsw.Connection(str(path))
    root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).get
    size = connection.pragma("page_size")
    connection.close()
    data = bytearray(path.read_bytes())
    start = (root - 1) * size
    assert data[start] == 5, "the table has not grown out of one page"
    cells = int.from_bytes(data[start + 3 : start + 5], "big")
    places = [start + int.from_bytes(data[at : at + 2], "big") for at in range(start + 12, start + 12 + 2 * cells, 2)]
    first = data[places[0] : places[0] + 4]
    for place in (*places, start + 8):
        data[place : place + 4] = first
    path.write_bytes(data)


@pytest.mark.parametrize("ascending", [True, False])
def test_a_list_of_messages_with_repeated_pages_ends(tmp_path: Path, ascending: bool) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        store.save_messages([Save(user(f"m{n}")) for n in range(2000)])
    repeat_the_first_leaf(path, "messages")
    with bough.connect(path) as store:
        with time_limit(), suppress(bough.BoughError):
            assert sum(1 for _ in store.list_messages(ascending=ascending)) <= 2000
        with time_limit():
            assert "engine" in codes(store)


def test_a_block_above_the_size_limit_of_sqlite_is_refused_and_nothing_is_saved(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(store.db, SQLite)
    connection = store.db.connect()
    limit = connection.limit(apsw.SQLITE_LIMIT_LENGTH)
    connection.close()
    assert limit == 1_000_000_000
    raw = store.db._use()
    raw.limit(apsw.SQLITE_LIMIT_LENGTH, 1_000_000)
    data = random.Random(1).randbytes(2_000_000)
    with pytest.raises(bough.Invalid, match="larger"):
        store.session("cli:a").save_turn([user(Media("video", "video/mp4", data=data)), assistant("x")])
    assert list(store.list_messages()) == []
    assert store.verify() == []
