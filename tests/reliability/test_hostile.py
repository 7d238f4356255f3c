"""Content and files that nobody in their right mind would make, and somebody does."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest

import bough
from bough import (
    Media,
    Message,
    Other,
    Save,
    Store,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    tool_call,
    user,
)

from .crew import ended

NASTY = [
    "\0",
    "a\0b\0",
    "\ud800",
    "\udfff tail",
    "lone \udc80 in the middle",
    "pair \U0001f333 beside \ud83c",
    "\x01[1]",
    "\x01",
    "~",
    '~{"$bough": [0]}',
    "",
    "\u202e\u200b\ufeff\uffff",
    "\r\n\t\x1b]0;title\x07",
    "é" * 600,
    "\0" * 5000,
    "\ud800" * 5000,
    "'; DROP TABLE messages; --",
]


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


def same(store: Store, message: Message) -> None:
    (id_,) = store.save_messages([Save(message)])
    assert store.get_messages([id_])[0].message == message


# Text ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", NASTY)
def test_every_text_comes_back_as_it_was_from_every_place_that_takes_one(store: Store, text: str) -> None:
    json = {"key": text, text: [text, {"deep": text}], "number": 1}
    message = Message(
        "assistant",
        (
            Text(text, extra=json, raw=json),
            Thinking(text, raw=[text]),
            ToolCall(text, text, text, extra=json),
            ToolResult(text, (Text(text), Other(text, {"x": text})), name=text),
            ToolResult(text, (Text(text),), error=True),
            Media("document", text, data=text.encode("utf-8", "surrogatepass"), name=text),
            Media("image", "image/png", url=text),
            Media("image", "image/png", file_id=text),
            Other(text, json, extra=json),
        ),
        envelope=json,
    )
    same(store, message)
    (id_,) = store.save_messages([Save(user("labelled"), label=text)])
    assert store.get_messages([id_])[0].label == text
    assert store.verify() == []


@pytest.mark.parametrize("text", NASTY)
def test_every_text_may_stand_beside_sessions_and_turns(store: Store, text: str) -> None:
    session = store.session("cli:a", title=text, directory=text, extra={text: text})
    info = session.info
    assert (info.title, info.directory, info.extra) == (text, text, {text: text})
    session.save_turn([user("a"), assistant("b")], metadata={text: text}, instructions=text)
    assert session.turns()[0].metadata == {text: text}
    session.turn("c").fail(text)
    assert session.turns(status="failed")[0].error == text
    assert session.fork(title=text or "t").info.title == (text or "t")
    store.delete_messages([session.path()[0].id], recursive=True)
    store.restore(store.trash()[0].id)
    assert len(session.path()) == 2
    assert store.verify() == []


@pytest.mark.parametrize("text", NASTY)
def test_a_name_that_a_provider_gave_is_kept_or_refused_whole(store: Store, text: str) -> None:
    session = store.session("cli:a")
    names = {"model": text, "provider": text, "request_id": text, "idempotency_key": f"1{text}"}
    try:
        session.save_turn([user("a"), assistant("b")], **names)  # type: ignore[arg-type]
    except bough.Invalid:
        assert list(store.list_messages()) == []
        assert session.turns() == []
    else:
        (turn,) = session.turns()
        assert (turn.model, turn.provider, turn.request_id, turn.idempotency_key) == (text, text, text, f"1{text}")
        session.save_turn([user("a"), assistant("b")], idempotency_key=f"1{text}")
        assert len(session.path()) == 2
    assert store.verify() == []


@pytest.mark.parametrize("text", NASTY)
def test_every_text_may_be_searched_for(store: Store, text: str) -> None:
    store.save_messages([Save(user(f"before {text} after"))])
    store.search(text)
    store.search(text, label=text)
    assert [hit.node.message.text for hit in store.search("before")] == [f"before {text} after"]


@pytest.mark.parametrize("key", ["", "\0", "a\0b", "\ud800", "x" * 513, None, 7, b"bytes"])
def test_a_key_that_no_session_can_have_is_refused(store: Store, key: Any) -> None:
    with pytest.raises(bough.Invalid):
        store.session(key)
    assert store.sessions() == []


# Ids -----------------------------------------------------------------------------------------------------------------

ODD_IDS = ["--help", "-rf", "' OR 1=1", "' OR '1'='1", "", "a" * 10_000, "%", "____", "????", "*", "\0", "\ud800",
           "a\0bc", "ABCDEF", "null", "0x1234", "🌳🌳🌳🌳"]  # fmt: skip


@pytest.mark.parametrize("id_", [*ODD_IDS, None, 7, b"bytes"])
def test_an_id_that_looks_like_something_else_finds_nothing_and_harms_nothing(store: Store, id_: Any) -> None:
    (real,) = store.save_messages([Save(user("real"))])
    session = store.fork(real, key="cli:a")
    lookups: list[Callable[[], object]] = [
        lambda: store.get_messages([id_]),
        lambda: store.path(id_),
        lambda: store.children(id_),
        lambda: store.forest(id_ if id_ is not None else 0),  # type: ignore[arg-type]
        lambda: store.fork(id_),
        lambda: store.label(id_, "x"),
        lambda: list(store.content(id_)),
        lambda: store.restore(id_),
        lambda: session.rewind(id_) if id_ is not None else session.rewind(0),  # type: ignore[arg-type]
    ]
    for number, lookup in enumerate(lookups):
        with pytest.raises((bough.NotFound, bough.Invalid)):
            lookup()
            pytest.fail(f"lookup {number} found {id_!r}")
    if id_ is not None:
        with pytest.raises((bough.NotFound, bough.Invalid)):
            store.save_messages([Save(user("x"), parent_id=id_)])
    for recursive in (False, True):
        try:
            store.delete_messages([id_], recursive=recursive)  # a missing id is not an error
        except bough.Invalid:
            assert not isinstance(id_, str) or "\0" in id_ or "\ud800" in id_
    assert [node.id for node in store.list_messages()] == [real]
    assert store.verify() == []


# Size ----------------------------------------------------------------------------------------------------------------

HUNDRED_MB = 100_000_000


@contextmanager
def measured() -> Iterator[Callable[[], int]]:
    """Gives a function that says how many bytes Python had to hold at most since then."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def check_streaming(store: Store, id_: str, size: int, digest: bytes) -> None:
    hashed, total = sha256(), 0
    with measured() as peak:
        for chunk in store.content(id_):
            hashed.update(chunk)
            total += len(chunk)
        assert peak() < 20_000_000, f"{peak()} bytes were held to read {size}"
    assert (total, hashed.digest()) == (size, digest)


def test_a_hundred_megabytes_of_text_are_kept_and_read_in_pieces(store: Store) -> None:
    line = "The quick brown fox jumps over the lazy dog, line after line. "
    text = (line * (HUNDRED_MB // len(line) + 1))[:HUNDRED_MB]
    (id_,) = store.session("cli:a").save_turn([Message("tool_result", (ToolResult("c", (Text(text),)),))])
    check_streaming(store, id_, len(text), sha256(text.encode()).digest())
    (node,) = store.get_messages([id_])
    assert node.message.results[0].text == text
    assert store.verify() == []


def test_a_hundred_megabytes_of_noise_are_kept_once_and_read_in_pieces(store: Store) -> None:
    data = random.Random(1).randbytes(HUNDRED_MB)
    media = Media("video", "video/mp4", data=data)
    first, second = store.save_messages([Save(user(media)), Save(user("again", media))])
    check_streaming(store, first, len(data), sha256(data).digest())
    assert store.get_messages([second])[0].message.blocks[1] == media
    store.delete_messages([first, second], keep=False)
    assert store.verify() == []


def test_a_highly_compressible_block_does_not_come_out_in_one_piece(store: Store) -> None:
    """Ten kilobytes of stored bytes must not become a hundred megabytes of memory."""
    (id_,) = store.save_messages([Save(user("\0" * HUNDRED_MB))])
    check_streaming(store, id_, HUNDRED_MB, sha256(bytes(HUNDRED_MB)).digest())


def test_a_block_larger_than_sqlite_holds_is_refused_and_nothing_is_saved(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_a_chain_of_a_hundred_thousand_is_walked_drawn_deleted_and_restored(store: Store) -> None:
    depth, parent, ids = 100_000, None, list[str]()
    for start in range(0, depth, 10_000):
        saves: list[Save] = []
        for number in range(start, start + 10_000):
            before = saves[-1] if saves else parent
            saves.append(Save(user(f"m{number}") if number % 2 == 0 else assistant(f"m{number}"), before))
        ids += store.save_messages(saves)
        parent = ids[-1]
    assert len(set(ids)) == depth
    path = store.path(ids[-1])
    assert [node.id for node in path] == ids
    assert path[-1].message.text == f"m{depth - 1}"
    assert [node.id for node in store.path(ids[-1], last=3)] == ids[-3:]
    (tree,) = store.forest()
    assert sum(1 for _ in tree.walk()) == depth
    assert [node.id for node in tree.leaves()] == [ids[-1]]
    assert sum(1 for _ in store.forest(ids[10])[0].walk()) == depth - 10
    session = store.fork(ids[-1], key="cli:deep")
    session.save_turn([user("deeper"), assistant("still")])
    assert store.verify() == []
    store.delete_messages([ids[1]], recursive=True)
    assert [node.id for node in store.list_messages()] == [ids[0]]
    assert session.head == ids[0]
    store.restore(ids[1])
    assert [node.id for node in store.path(ids[-1])] == ids
    del tree, path
    store.delete_messages([ids[0]], recursive=True, keep=False)
    assert list(store.list_messages()) == []
    assert store.verify() == []


def test_ten_thousand_children_of_one_message_are_listed_in_order(store: Store) -> None:
    root = Save(user("root"))
    ids = store.save_messages([root, *(Save(assistant(f"c{n}"), root) for n in range(10_000))])
    assert [node.id for node in store.children(ids[0])] == ids[1:]
    with pytest.raises(bough.Refused):
        store.delete_messages([ids[0]])
    store.delete_messages(ids)
    assert list(store.list_messages()) == []


def test_a_message_of_ten_thousand_blocks_comes_back(store: Store) -> None:
    same(store, user(*(f"part {n}" for n in range(10_000))))


# JSON ----------------------------------------------------------------------------------------------------------------


def nested(depth: int) -> Any:
    value: Any = "bottom"
    for level in range(depth):
        value = [value] if level % 2 else {"down": value}
    return value


@pytest.mark.parametrize(
    "value",
    [nested(100_000), {1: "a"}, {"a": {2: "b"}}, {"a": {1, 2}}, object(), b"bytes", {"a": b"bytes"}, 1j, {"x": ...}],
)  # fmt: skip
@pytest.mark.parametrize("place", ["raw", "extra", "envelope", "metadata", "session", "other"])
def test_what_is_not_json_is_refused_and_nothing_is_saved(store: Store, value: Any, place: str) -> None:
    session = store.session("cli:a")
    good = user("good")
    messages = {
        "raw": assistant(Text("x", raw=value)),
        "extra": assistant(Text("x", extra=value)),
        "envelope": Message("assistant", (Text("x"),), envelope=value),
        "other": assistant(Other("thing", value)),
    }
    before = store.db.rows("turns", None, None, 2**62, 10)
    with pytest.raises(bough.Invalid):
        if place == "metadata":
            session.save_turn([good, assistant("x")], metadata={"value": value})
        elif place == "session":
            session.update(extra=value)
        else:
            session.save_turn([good, messages[place]])
    assert list(store.list_messages()) == []
    assert store.db.rows("turns", None, None, 2**62, 10) == before
    assert session.info.extra is None
    session.save_turn([good, assistant("x")])
    assert store.verify() == []


def test_a_value_that_contains_itself_is_refused(store: Store) -> None:
    loop: list[Any] = []
    loop.append(loop)
    with ended(), pytest.raises(bough.Invalid):
        store.save_messages([Save(user(Text("x", raw=loop)))])
    assert list(store.list_messages()) == []


def test_the_same_object_twice_in_one_value_is_not_a_loop(store: Store) -> None:
    shared = {"a": [1, 2]}
    same(store, user(Text("x", raw={"one": shared, "two": shared, "list": [shared] * 3})))


TEXT = "a text that is long enough to be worth a hole in the JSON beside it"


@pytest.mark.parametrize(
    "value",
    [
        {"$bough": [0]}, {"$bough": "x"}, {"$bytes": "AAAA"}, {"a": [{"$bytes": "not base64 !"}]},
        {"$bough": {"$bough": [0]}},
        {"text": TEXT, "$bough": [0]}, {"text": TEXT, "deep": {"$bough": [0, "base64"]}}, "~", "~{}", ["~" + TEXT],
        {"text": TEXT, "again": TEXT}, TEXT, [TEXT], {TEXT: TEXT}, {"": ""}, {}, [], 0, False, "", 10**30, 1e308, -0.0,
        {"long": "x" * 5000, "text": TEXT}, "data:image/png;base64,AAAA", {"b": 1, "a": 2, "0": 3}, nested(60),
    ],
)  # fmt: skip
def test_json_that_looks_like_ours_survives_with_its_order(store: Store, value: Any) -> None:
    media = Media("image", "image/png", data=b"\0\0\0", raw=value)
    message = Message("assistant", (Text(TEXT, extra=value, raw=value), media, Other("o", value)), envelope=value)
    (id_,) = store.save_messages([Save(message)])
    (back,) = store.get_messages([id_])
    assert repr(back.message) == repr(message)
    session = store.session("cli:a", extra={"x": value})
    session.save_turn([user("a"), assistant("b")], metadata={"x": value})
    assert repr(session.info.extra) == repr({"x": value})
    assert repr(session.turns()[0].metadata) == repr({"x": value})
    store.delete_messages([id_])
    store.restore(id_)
    assert repr(store.get_messages([id_])[0].message) == repr(message)
    assert store.verify() == []


# Damage by hand ------------------------------------------------------------------------------------------------------


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


def test_a_parent_cycle_made_by_hand_ends_and_is_named(store: Store, path: Path) -> None:
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


def test_a_message_that_is_its_own_parent_ends_and_is_named(store: Store, path: Path) -> None:
    (a,) = chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET parent = n")
    with pytest.raises(bough.Corrupt):
        store.path(a)
    assert codes(store)["cycle"] == [a]
    assert sum(1 for tree in store.forest(a) for _ in tree.walk()) <= 1
    store.delete_messages([a], recursive=True, keep=False)
    assert store.verify() == []


def test_an_orphan_is_named_and_its_path_is_not_passed_off_as_whole(store: Store, path: Path) -> None:
    a, b, c = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM blocks WHERE message = (SELECT n FROM messages WHERE id = ?)", (a,))
        hand.execute("DELETE FROM messages WHERE id = ?", (a,))
    assert codes(store)["orphan"] == [b]
    with pytest.raises(bough.Corrupt):
        store.path(c)


def test_a_changed_text_is_named(store: Store, path: Path) -> None:
    _, b, _ = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE blocks SET content = 'B' WHERE message = (SELECT n FROM messages WHERE id = ?)", (b,))
    assert codes(store) == {"digest": [b]}
    assert codes(store, repair=True) == {"digest": [b]}  # nothing safe can be done about it
    assert codes(store) == {"digest": [b]}


@pytest.mark.parametrize(
    "change",
    ["UPDATE messages SET role = 'assistant' WHERE id = ?", "UPDATE messages SET error = 1 WHERE id = ?",
     "UPDATE messages SET parent = NULL WHERE id = ?", "UPDATE messages SET digest = x'00' WHERE id = ?"],
)  # fmt: skip
def test_a_changed_message_is_named(store: Store, path: Path, change: str) -> None:
    _, b, _ = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute(change, (b,))
    assert b in codes(store)["digest"]


def test_a_moved_message_is_named(store: Store, path: Path) -> None:
    a, _, c = chain(store, "a", "b", "c")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE messages SET parent = (SELECT n FROM messages WHERE id = ?) WHERE id = ?", (a, c))
    assert codes(store) == {"digest": [c]}


BIG = "big " * 5000


def test_a_missing_blob_is_named_and_reading_it_says_so(store: Store, path: Path) -> None:
    (a,) = store.save_messages([Save(user(BIG))])
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM blob_bytes")
    assert a in codes(store)["missing_blob"]
    with pytest.raises(bough.Corrupt):
        store.get_messages([a])
    with pytest.raises(bough.Corrupt):
        list(store.content(a))


def test_a_damaged_blob_is_named_and_reading_it_is_our_error(store: Store, path: Path) -> None:
    (a,) = store.save_messages([Save(user(BIG))])
    with by_hand(store, path) as hand:
        hand.execute("UPDATE blob_bytes SET bytes = x'28b52ffd00'")
    assert "damaged_blob" in codes(store)
    for read in (lambda: store.get_messages([a]), lambda: list(store.content(a)), lambda: list(store.list_messages())):
        with pytest.raises(bough.Corrupt):
            read()


def test_a_wrong_blob_count_is_named_and_mended(store: Store, path: Path) -> None:
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


def test_a_dangling_head_is_named_and_mended(store: Store, path: Path) -> None:
    session = store.session("cli:a")
    session.save_turn([user("a"), assistant("b")])
    last = session.save_turn([user("c"), assistant("d")])
    with by_hand(store, path) as hand:
        hand.execute("DELETE FROM blocks WHERE message IN (SELECT n FROM messages WHERE id IN (?, ?))", tuple(last))
        hand.execute("DELETE FROM messages WHERE id IN (?, ?)", tuple(last))
    assert {"dangling_head", "broken_turn"} <= set(codes(store))
    store.verify(repair=True)
    assert store.verify() == []
    assert [node.message.text for node in session.path()] == ["a", "b"]
    session.save_turn([user("e"), assistant("f")])
    assert len(session.path()) == 4


def test_blocks_without_a_message_are_named_and_mended(store: Store, path: Path) -> None:
    chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("INSERT INTO blocks (message, position, type, content) VALUES (999, 0, 'text', 'lost')")
    assert "homeless_block" in codes(store)
    store.verify(repair=True)
    assert store.verify() == []


def test_an_abandoned_turn_is_named_and_mended(store: Store, path: Path) -> None:
    session = store.session("cli:a")
    turn = session.turn("question")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE sessions SET lease_until = 1")
    assert list(codes(store)) == ["abandoned_turn"]
    store.verify(repair=True)
    assert store.verify() == []
    assert [info.id for info in session.turns(status="interrupted")] == [turn.id]


def test_a_damaged_trash_entry_is_named_and_harms_no_other(store: Store, path: Path) -> None:
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
    ["UPDATE blocks SET type = 'nonsense'", "UPDATE blocks SET raw = '{broken'",
     "UPDATE blocks SET raw = '~{\"$bough\": [99]}'",
     "UPDATE blocks SET extra = '~[{\"$bough\": 7}]'", "UPDATE blocks SET content = NULL, packed = x'00'",
     "UPDATE messages SET envelope = '['", "UPDATE messages SET label = char(1) || '{'",
     "UPDATE blocks SET content = NULL", "UPDATE blocks SET position = position + 5", "DELETE FROM blocks"],
)  # fmt: skip
def test_whatever_a_hand_writes_into_a_row_reading_it_is_our_error_or_named(
    store: Store, path: Path, damage: str
) -> None:
    (a,) = store.save_messages([Save(assistant(tool_call("c", "look", {"a": 1}), "words"), label="l")])
    with by_hand(store, path) as hand:
        hand.execute(damage)
    for read in (lambda: store.get_messages([a]), lambda: list(store.list_messages()), lambda: store.search("words")):
        with suppress(bough.BoughError):
            read()
    assert codes(store), "verify did not notice"


def test_text_that_is_not_utf8_is_our_error(store: Store, path: Path) -> None:
    (a,) = chain(store, "a")
    with by_hand(store, path) as hand:
        hand.execute("UPDATE blocks SET content = CAST(x'ff61' AS TEXT)")
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
def test_rows_out_of_order_make_nothing_endless_and_are_named(tmp_path: Path, table: str) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        ids = chain(store, "a", "b", "c", "d", "e")
        store.save_messages([Save(user(Media("image", "image/png", data=bytes([n])))) for n in range(5)])
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
            with ended(), suppress(bough.BoughError):
                read()
        with ended():
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
def test_a_list_of_messages_whose_pages_repeat_ends(tmp_path: Path, ascending: bool) -> None:
    path = tmp_path / "a.db"
    with bough.connect(path) as store:
        store.save_messages([Save(user(f"m{n}")) for n in range(2000)])
    repeat_the_first_leaf(path, "messages")
    with bough.connect(path) as store:
        with ended(), suppress(bough.BoughError):
            assert sum(1 for _ in store.list_messages(ascending=ascending)) <= 2000
        with ended():
            assert "engine" in codes(store)


def test_nothing_here_recurses() -> None:
    """The depth tests above would pass with a raised limit; it is the usual one."""
    assert sys.getrecursionlimit() <= 3000
