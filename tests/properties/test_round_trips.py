"""What is saved is what is loaded, whatever it is; and what else is true of every message and every tree."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bough
from bough import BoughError, Media, Message, Node, Other, Save, Store, Text, ToolResult, assistant, user
from bough.model.values import replace
from tests.properties import strategies as some
from tests.properties.plain_model import said

few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=5000, deadline=None, suppress_health_check=list(HealthCheck))


@contextmanager
def new_store() -> Iterator[Store]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as directory:
        with bough.connect(Path(directory) / "store.db") as opened:
            yield opened


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """One store for all examples of this file: each adds to what the others left."""
    with new_store() as opened:
        yield opened


def spelled(value: Any) -> str:
    """A value with its types and the order of its keys: 1, 1.0 and True are equal in Python, and not the same JSON."""
    return repr(value)


# A message ----------------------------------------------------------------------------------------------------------


def check_round_trip(store: Store, message: Message, label: str | None) -> None:
    (id_,) = store.save_messages([Save(message, label=label)])
    (node,) = store.get_messages([id_])
    assert node.message == message
    assert spelled(node.message) == spelled(message)
    assert node.label == label
    (listed,) = store.list_messages(limit=1)
    assert listed == node
    assert store.path(id_) == [node]


@few
@given(message=some.messages(), label=some.labels)
def test_any_message_is_loaded_as_it_was_saved(store: Store, message: Message, label: str | None) -> None:
    check_round_trip(store, message, label)


@pytest.mark.soak
@many
@given(message=some.messages(), label=some.labels)
def test_any_of_many_messages_is_loaded_as_it_was_saved(store: Store, message: Message, label: str | None) -> None:
    check_round_trip(store, message, label)


@few
@given(text=some.texts, name=some.texts)
def test_any_text_survives_in_every_place_that_takes_one(store: Store, text: str, name: str) -> None:
    check_round_trip(
        store,
        Message(
            "assistant",
            (
                Text(text, extra=text, raw={text: text}),
                bough.Thinking(text, raw=[text, [text]]),
                bough.ToolCall(text, name, text, extra={"input": text}),
                ToolResult(text, (Text(text), Media("document", text, url=text, name=name)), name=text, raw=text),
                Media("image", name, file_id=text, name=text),
                Other(text, text, extra=text),
            ),
            envelope={"text": text, text: name},
        ),
        text,
    )


@few
@given(data=some.data, mime=some.texts, around=some.plain_json)
def test_media_that_the_json_beside_it_repeats_is_loaded_as_it_was_saved(
    store: Store, data: bytes, mime: str, around: Any
) -> None:
    image = Media("image", mime, data=data)
    repeats = some.contents(image)
    message = user(
        replace(image, raw={"source": repeats, "around": around}, extra=repeats[0]),
        Text(repeats[0], raw=repeats[0]),
        ToolResult("c", (image, image), raw=[repeats[1], repeats[0]]),
    )
    check_round_trip(store, replace(message, envelope=[repeats, around]), None)


@few
@given(value=st.dictionaries(some.texts, some.plain_json, min_size=1, max_size=3), compact=st.booleans())
def test_arguments_and_the_same_object_beside_them_are_loaded_as_they_were_saved(
    store: Store, value: dict[str, Any], compact: bool
) -> None:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":") if compact else None)
    call = bough.ToolCall("c", "t", text, extra=value, raw={"type": "tool_use", "input": value, "arguments": text})
    check_round_trip(store, replace(assistant(call), envelope={"output": [{"input": value}], "text": text}), None)


@few
@given(message=some.messages(), session=st.sampled_from(["cli:a", "cli:b"]))
def test_any_message_is_loaded_as_it_was_saved_by_a_turn(store: Store, message: Message, session: str) -> None:
    with store.session(session).turn(message) as turn:
        turn.add([message, assistant("done")])
        assert [node.message for node in turn.path(3)] == [message, message, assistant("done")]
    assert store.session(session).path(last=3) == store.path(turn.last)[-3:]


@few
@given(value=some.plain_json)
def test_any_json_beside_a_session_or_a_turn_is_loaded_as_it_was_saved(store: Store, value: Any) -> None:
    session = store.session("cli:json", extra={"value": value})
    assert spelled(session.info.extra) == spelled({"value": value})
    session.save_turn([user("a"), assistant("b")], metadata={"value": value})
    assert spelled(session.turns(limit=1)[0].metadata) == spelled({"value": value})


@few
@given(text=some.texts)
def test_any_title_and_any_reason_is_kept(store: Store, text: str) -> None:
    session = store.session("cli:titled", title=text)
    assert session.info.title == text
    turn = session.turn("a")
    turn.fail(text)
    assert turn.info.error == text


@pytest.mark.parametrize("text", ["\ud83d\ude00", "a\ud83d\ude00b"])
def test_a_pair_of_surrogates_is_not_joined(store: Store, text: str) -> None:
    check_round_trip(store, user(Text(text)), None)
    check_round_trip(store, user(Text("x", raw=text)), None)
    check_round_trip(store, user(Text("x", extra={text: [text]})), None)
    check_round_trip(store, user("x"), text)


TAKES_TEXT: dict[str, Callable[[Store, str], object]] = {
    "path": lambda store, text: store.path(text),
    "children": lambda store, text: store.children(text),
    "get_messages": lambda store, text: store.get_messages([text]),
    "delete_messages": lambda store, text: store.delete_messages([text]),
    "label": lambda store, text: store.label(text, None),
    "fork": lambda store, text: store.fork(text),
    "fork key": lambda store, text: store.fork(store.save_messages([Save(user("x"))])[0], key=text),
    "find_id": lambda store, text: store.find_id(text),
    "session": lambda store, text: store.session(text),
    "session directory": lambda store, text: store.session("cli:t", directory=text),
    "session agent": lambda store, text: store.session("cli:t", agent=text),
    "session model": lambda store, text: store.session("cli:t", model=text),
    "find_session": lambda store, text: store.find_session(text),
    "sessions channel": lambda store, text: store.sessions(channel=text),
    "sessions directory": lambda store, text: store.sessions(directory=text),
    "sessions parent": lambda store, text: store.sessions(parent=text),
    "delete_session": lambda store, text: store.delete_session(text),
    "turns": lambda store, text: store.turns(text),
    "usage": lambda store, text: store.usage(text),
    "search": lambda store, text: store.search(text),
    "search session": lambda store, text: store.search("x", session=text),
    "search channel": lambda store, text: store.search("x", channel=text),
    "search label": lambda store, text: store.search("x", label=text),
    "restore": lambda store, text: store.restore(text),
    "turn model": lambda store, text: store.session("cli:t").save_turn([user("x"), assistant("y")], model=text),
    "turn provider": lambda store, text: store.session("cli:t").save_turn([user("x"), assistant("y")], provider=text),
    "turn request": lambda store, text: store.session("cli:t").save_turn([user("x"), assistant("y")], request_id=text),
    "turn key": lambda store, text: store.session("cli:t").save_turn([user("x"), assistant("y")], idempotency_key=text),
    "delegate": lambda store, text: store.session("cli:t").delegate(text),
    "delegate call": lambda store, text: (
        store.session("cli:t").delegate("a", call_id=text).save_turn([user("x"), assistant("y")])
    ),
    "name_externally": lambda store, text: store.name_externally("uuid", text, session="cli:t"),
    "find_external": lambda store, text: store.find_external(text, text),
}


HOSTILE = ["\ud800", "cli:\udfff", "a\0b", "", "\x01", "-" * 10_000, "'; --"]


@pytest.mark.parametrize("verb", TAKES_TEXT)
def test_a_verb_takes_any_text_or_refuses_it_with_an_error_of_its_own(store: Store, verb: str) -> None:
    store.session("cli:t").save_turn([user("x"), assistant("y")])
    for text in HOSTILE:
        with suppress(BoughError):
            TAKES_TEXT[verb](store, text)
    assert store.verify() == []


# Digests ------------------------------------------------------------------------------------------------------------


def canonical(message: Message) -> str:
    """What a message says, as text in which 1, 1.0 and True differ and the order of keys does not."""
    role, error, blocks = said(message)
    return spelled([role, error, [unnamed(block) for block in blocks]])


def unnamed(block: Any) -> Any:
    """Names of files and tools are kept beside the content, and not part of it."""
    if isinstance(block, ToolResult):
        return "result", block.call_id, block.error, [unnamed(part) for part in block.content]
    if isinstance(block, Media):
        return replace(block, name=None)
    if isinstance(block, Other):
        return "other", block.type, json.dumps(block.raw, sort_keys=True)
    return block


def digests(store: Store, messages: list[Message]) -> list[bytes]:
    return [node.digest for node in store.get_messages(store.save_messages([Save(message) for message in messages]))]


@few
@given(one=some.messages((0, 2)), other=some.messages((0, 2)))
def test_two_messages_have_the_same_digest_when_and_only_when_they_say_the_same(
    store: Store, one: Message, other: Message
) -> None:
    first, second = digests(store, [one, other])
    assert (first == second) == (canonical(one) == canonical(other))


SIMILAR = [
    user("ab"),
    user("a", "b"),
    user("a\nb"),
    user(),
    user(""),
    user("", ""),
    assistant("ab"),
    replace(user("ab"), error=True),
    user(bough.Thinking("ab")),
    user(bough.ToolCall("ab", "", "")),
    user(bough.ToolCall("a", "b", "")),
    user(bough.ToolCall("", "ab", "")),
    user(bough.ToolCall("", "", "ab")),
    user(ToolResult("ab")),
    user(ToolResult("", (Text("ab"),))),
    user(ToolResult("", (Text("a"), Text("b")))),
    user(ToolResult("", (Text("a"),)), "b"),
    user(ToolResult("", (Text("ab"),), error=True)),
    user(Media("image", "", data=b"ab")),
    user(Media("image", "ab", data=b"")),
    user(Media("audio", "", data=b"ab")),
    user(Other("ab", None)),
    user(Other("", "ab")),
    user(Other("", ["ab"])),
    user("text 2:ab"),
    user("\ud800"),
    user("?"),
    user("\ufffd"),
]


def test_messages_that_are_only_similar_have_different_digests(store: Store) -> None:
    found = digests(store, SIMILAR)
    assert len(set(found)) == len(SIMILAR)


def test_media_by_url_and_by_file_id_have_different_digests(store: Store) -> None:
    by_url, by_file, by_data = digests(
        store,
        [
            user(Media("image", "image/png", url="2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")),
            user(
                Media("image", "image/png", file_id="2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824")
            ),
            user(Media("image", "image/png", data=b"hello")),
        ],
    )
    assert len({by_url, by_file, by_data}) == 3


@few
@given(message=some.messages(), extra=some.plain_json)
def test_what_is_beside_a_message_does_not_change_its_digest(store: Store, message: Message, extra: Any) -> None:
    blocks = tuple(replace(block, extra=extra) for block in message.blocks)
    first, second = digests(store, [message, replace(message, blocks=blocks, envelope=extra)])
    assert first == second


@few
@given(messages=st.lists(some.spoken, min_size=1, max_size=5), at=st.integers(0, 4))
def test_a_digest_stands_for_the_whole_path(store: Store, messages: list[Message], at: int) -> None:
    def saved(dialog: list[Message]) -> list[bytes]:
        saves: list[Save] = []
        for message in dialog:
            saves.append(Save(message, saves[-1] if saves else None))
        return [node.digest for node in store.get_messages(store.save_messages(saves))]

    changed = list(messages)
    changed[at % len(messages)] = assistant("something that nobody says")
    one, same, other = saved(messages), saved(messages), saved(changed)
    assert one == same
    assert [a == b for a, b in zip(one, other, strict=True)] == [
        place < at % len(messages) for place in range(len(one))
    ]


# Trees --------------------------------------------------------------------------------------------------------------


def plant(store: Store, tree: list[tuple[Message, int | None]]) -> list[str]:
    """Saves messages, each under nothing or under an earlier one; their ids."""
    saves: list[Save] = []
    for message, parent in tree:
        saves.append(Save(message, saves[parent % len(saves)] if saves and parent is not None else None, "planted"))
    return store.save_messages(saves)


trees = st.lists(st.tuples(some.messages((0, 2)), st.none() | st.integers(0, 9)), min_size=1, max_size=8)


@few
@given(tree=trees, picks=st.lists(st.integers(0, 9), min_size=1, max_size=3), again=st.booleans())
def test_what_was_deleted_is_restored_as_it_was(
    tree: list[tuple[Message, int | None]], picks: list[int], again: bool
) -> None:
    with new_store() as store:
        ids = plant(store, tree)
        session = store.fork(ids[-1])
        everything, forest = list(store.list_messages(ascending=True)), shapes(store)
        doomed = [ids[pick % len(ids)] for pick in picks]
        for _ in range(2 if again else 1):
            store.delete_messages(doomed, recursive=True)
            left = [node.id for node in store.list_messages(ascending=True)]
            assert not set(left) & set(doomed)
            assert session.head in (None, *left)
            (entry,) = store.trash()
            restored = store.restore(doomed[0])
            assert sorted([*left, *restored]) == sorted(ids)
            assert entry.messages == len(restored)
            assert list(store.list_messages(ascending=True)) == everything
            assert shapes(store) == forest
            assert session.head == ids[-1]
        assert store.verify() == []


def shapes(store: Store) -> list[list[tuple[int, str]]]:
    return [[(depth, below.node.id) for depth, below in tree.walk()] for tree in store.forest()]


@few
@given(tree=trees)
def test_the_three_ways_to_a_dialog_agree(store: Store, tree: list[tuple[Message, int | None]]) -> None:
    ids = plant(store, tree)
    for id_ in ids:
        path = store.path(id_)
        assert bough.get_dialog(store, id_) == path
        assert store.fork(id_).path() == path
        assert path[-1] == store.get_messages([id_])[0]
        assert all(above.created_at < below.created_at for above, below in pairwise(path))
        for last in range(1, len(path) + 2):
            assert store.path(id_, last=last) == path[-last:]
            assert store.fork(id_).path(last=last) == path[-last:]
        assert store.path(id_, last=0) == []
    store.delete_messages(ids, recursive=True, keep=False)


# Dialogs that an application keeps ----------------------------------------------------------------------------------


@few
@given(dialogs=st.lists(st.lists(some.messages((0, 2)), max_size=4), min_size=1, max_size=3), grow=st.booleans())
def test_recording_a_dialog_again_adds_nothing(store: Store, dialogs: list[list[Message]], grow: bool) -> None:
    session = store.session("cli:recorded")
    session.rewind(session.path()[0].id) if session.head else None
    dialog: list[Message] = []
    for part in dialogs:
        dialog = [*dialog, *part] if grow else part
        session.record(dialog)
        head = session.head
        assert session.record(dialog) == []
        assert session.record(list(dialog)) == []
        assert session.head == head
        replied = max((place for place, message in enumerate(dialog) if message.role != "user"), default=None)
        if replied is not None:
            expected = [canonical(message) for message in dialog[: replied + 1]]
            assert [canonical(node.message) for node in session.path()][: len(expected)] == expected


@few
@given(turns=st.lists(some.complete_turns(), min_size=1, max_size=4))
def test_recording_what_a_session_says_adds_nothing(store: Store, turns: list[list[Message]]) -> None:
    session = store.session("cli:itself")
    for turn in turns:
        session.save_turn(turn)
    assert session.record(session.path()) == []
    assert session.record([node.message for node in session.path()]) == []
    store.delete_session("cli:itself", keep=False)


def test_recording_what_a_compacted_session_says_adds_nothing(store: Store) -> None:
    session = store.session("cli:compacted")
    for number in range(3):
        session.save_turn([user(f"question {number}"), assistant(f"answer {number}")])
    session.compact(lambda nodes: f"{len(nodes)} messages", keep_turns=1)
    session.save_turn([user("question 3"), assistant("answer 3")])
    path: list[Node] = session.path()
    assert session.record(path) == []
    assert session.path() == path


def test_the_tree_of_a_message_is_drawn_as_it_is_in_the_forest() -> None:
    with new_store() as store:
        root = Save(user("root"))
        first = Save(assistant("first"), root)
        store.save_messages([root, first, Save(user("under the first"), first), Save(assistant("newest"), root)])
        (tree,) = store.forest()
        (same,) = store.forest(tree.node.id)
        assert [child.node.message.text for child in tree.children] == ["first", "newest"]
        assert [child.node.message.text for child in same.children] == ["first", "newest"]
