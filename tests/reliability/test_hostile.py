"""Extreme content: any text, huge and deep data, invalid ids and values."""

from __future__ import annotations

import random
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Any

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
    user,
)

from .processes import time_limit

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
def store(anywhere: dict[str, Any]) -> Iterator[Store]:
    with bough.connect(**anywhere) as opened:
        yield opened


def same(store: Store, message: Message) -> None:
    (id_,) = store.save_messages([Save(message)])
    assert store.get_messages([id_])[0].message == message


# Text ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", NASTY)
def test_any_text_in_a_message_is_loaded_unchanged(store: Store, text: str) -> None:
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
def test_any_text_in_sessions_and_turns_is_loaded_unchanged(store: Store, text: str) -> None:
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
def test_a_name_from_a_provider_is_stored_unchanged_or_refused(store: Store, text: str) -> None:
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
def test_any_text_can_be_searched_for(store: Store, text: str) -> None:
    store.save_messages([Save(user(f"before {text} after"))])
    store.search(text)
    store.search(text, label=text)
    assert [hit.node.message.text for hit in store.search("before")] == [f"before {text} after"]


@pytest.mark.parametrize("key", ["", "\0", "a\0b", "\ud800", "x" * 513, None, 7, b"bytes"])
def test_an_invalid_session_key_is_refused(store: Store, key: Any) -> None:
    with pytest.raises(bough.Invalid):
        store.session(key)
    assert store.sessions() == []


# Ids -----------------------------------------------------------------------------------------------------------------

ODD_IDS = ["--help", "-rf", "' OR 1=1", "' OR '1'='1", "", "a" * 10_000, "%", "____", "????", "*", "\0", "\ud800",
           "a\0bc", "ABCDEF", "null", "0x1234", "🌳🌳🌳🌳"]  # fmt: skip


@pytest.mark.parametrize("id_", [*ODD_IDS, None, 7, b"bytes"])
def test_an_invalid_id_is_not_found_and_changes_nothing(store: Store, id_: Any) -> None:
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


def test_a_hundred_megabytes_of_text_are_stored_and_streamed(store: Store) -> None:
    line = "The quick brown fox jumps over the lazy dog, line after line. "
    text = (line * (HUNDRED_MB // len(line) + 1))[:HUNDRED_MB]
    (id_,) = store.session("cli:a").save_turn([Message("tool_result", (ToolResult("c", (Text(text),)),))])
    check_streaming(store, id_, len(text), sha256(text.encode()).digest())
    (node,) = store.get_messages([id_])
    assert node.message.results[0].text == text
    assert store.verify() == []


def test_a_hundred_megabytes_of_noise_are_stored_once_and_streamed(store: Store) -> None:
    data = random.Random(1).randbytes(HUNDRED_MB)
    media = Media("video", "video/mp4", data=data)
    first, second = store.save_messages([Save(user(media)), Save(user("again", media))])
    check_streaming(store, first, len(data), sha256(data).digest())
    assert store.get_messages([second])[0].message.blocks[1] == media
    store.delete_messages([first, second], keep=False)
    assert store.verify() == []


def test_a_highly_compressible_block_is_streamed_in_bounded_pieces(store: Store) -> None:
    """Ten kilobytes of stored bytes must not become a hundred megabytes of memory."""
    (id_,) = store.save_messages([Save(user("\0" * HUNDRED_MB))])
    check_streaming(store, id_, HUNDRED_MB, sha256(bytes(HUNDRED_MB)).digest())


def test_a_path_of_a_hundred_thousand_messages_is_loaded_drawn_deleted_and_restored(
    store: Store, anywhere: dict[str, Any]
) -> None:
    # On a server it takes a minute, which is too long for every day; it grows as it does in a file.
    depth, parent, ids = 10_000 if "namespace" in anywhere else 100_000, None, list[str]()
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


def test_a_message_of_ten_thousand_blocks_is_loaded(store: Store) -> None:
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
def test_a_value_that_is_not_json_is_refused_and_nothing_is_saved(store: Store, value: Any, place: str) -> None:
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
    with time_limit(), pytest.raises(bough.Invalid):
        store.save_messages([Save(user(Text("x", raw=loop)))])
    assert list(store.list_messages()) == []


def test_an_object_that_occurs_twice_in_a_value_is_not_a_cycle(store: Store) -> None:
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
def test_json_with_reserved_keys_is_loaded_unchanged_and_in_order(store: Store, value: Any) -> None:
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


def test_the_recursion_limit_is_the_default() -> None:
    """The depth tests above would pass with a raised limit; it is the usual one."""
    assert sys.getrecursionlimit() <= 3000
