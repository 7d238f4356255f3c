"""Values: immutable, equal by content, cheap."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import pprint
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

import bough
from bough import (
    Media,
    Message,
    Node,
    Other,
    Save,
    SessionInfo,
    Text,
    Thinking,
    ToolResult,
    TrashEntry,
    TurnInfo,
    Usage,
    assistant,
    formats,
    tool_call,
    user,
)
from bough.codec.digest import digest_input, text_digest_input
from bough.codec.encode import draft
from bough.model.values import lazy_maker, replace, value
from bough.storage.messages import prepare


def test_a_value_cannot_be_changed() -> None:
    message = user("hello")
    with pytest.raises(AttributeError, match="immutable"):
        message.role = "assistant"  # type: ignore[misc]
    with pytest.raises(AttributeError, match="immutable"):
        del message.blocks
    with pytest.raises(AttributeError):
        message.note = "new"  # type: ignore[attr-defined]
    assert message == user("hello")


def test_values_are_equal_by_kind_and_content() -> None:
    assert Text("a") == Text("a")
    assert Text("a") != Text("b")
    others: list[object] = [Thinking("a"), ("a", None, None)]
    assert Text("a") not in others
    assert hash(Text("a")) == hash(Text("a"))
    assert len({user("a"), user("a"), assistant("a")}) == 2


def test_a_save_is_itself_and_nothing_else() -> None:
    one, other = Save(user("a")), Save(user("a"))
    assert one != other
    assert len({one, other}) == 2


def test_defaults_names_and_positions_work_as_in_any_class() -> None:
    node = Node("abc123", None, 7, message=user("x"), label="topic")
    assert (node.id, node.created_at, node.label, node.kind, node.role) == ("abc123", 7, "topic", "message", "user")
    with pytest.raises(TypeError):
        Node("abc123")  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Text("a", colour="green")  # type: ignore[call-arg]


def test_a_value_may_refuse_to_be_made() -> None:
    with pytest.raises(ValueError, match="exactly one"):
        Media("image", "image/png")
    with pytest.raises(ValueError, match="exactly one"):
        replace(Media("image", "image/png", data=b""), url="https://example.org")


def test_replace_gives_another_value() -> None:
    before = Text("a", extra={"k": 1})
    after = replace(before, text="b")
    assert (before.text, after.text, after.extra) == ("a", "b", {"k": 1})


def test_values_are_copied_pickled_matched_and_shown() -> None:
    message = assistant("a", Media("image", "image/png", data=b"x"))
    assert pickle.loads(pickle.dumps(message)) == message
    assert copy.deepcopy(message) == message
    match message.blocks[0]:
        case Text(text):
            assert text == "a"
        case _:
            pytest.fail("a value does not match its class")
    assert repr(Text("a")) == "Text(text='a', extra=None, raw=None)"


def test_a_mutable_record_can_be_changed_and_not_hashed() -> None:
    (entry,) = prepare([user("a")])
    entry.parent = 7
    assert entry.parent == 7
    with pytest.raises(TypeError):
        hash(entry)


def test_threads_that_make_the_first_value_of_a_class_together_make_the_same() -> None:
    @value
    class Fresh:
        n: int
        text: str = "leaf"

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(Fresh, range(200)))
    assert made == [Fresh(n, "leaf") for n in range(200)]


@value
class Letter:
    """A value whose words are lazy."""

    sender: str
    words: str
    pages: int = 1
    lazy = "words"


def test_a_lazy_field_is_computed_once_and_only_when_it_is_used() -> None:
    opened: list[str] = []

    def open_(envelope: str) -> str:
        opened.append(envelope)
        return envelope.upper()

    letter = lazy_maker(Letter)(Letter, "me", (open_, "hello"), 2)
    assert (letter.sender, letter.pages, opened) == ("me", 2, [])
    assert (letter.words, letter.words, opened) == ("HELLO", "HELLO", ["hello"])
    with pytest.raises(AttributeError, match="immutable"):
        letter.words = "changed"
    with pytest.raises(AttributeError, match="has no 'stamp'"):
        letter.stamp  # noqa: B018


def test_a_lazy_value_is_like_any_other() -> None:
    def lazy(sender: str, words: str) -> Letter:
        made: Letter = lazy_maker(Letter)(Letter, sender, (str.upper, words))
        return made

    assert lazy("me", "hello") == Letter("me", "HELLO")
    assert hash(lazy("me", "hello")) == hash(Letter("me", "HELLO"))
    assert repr(lazy("me", "hello")) == "Letter(sender='me', words='HELLO', pages=1)"
    assert pickle.loads(pickle.dumps(lazy("me", "hello"))) == Letter("me", "HELLO")
    assert copy.copy(lazy("me", "hello")) == replace(lazy("me", "hello"), words="HELLO")


def test_a_lazy_field_that_cannot_be_computed_says_so_every_time() -> None:
    letter = lazy_maker(Letter)(Letter, "me", (int, "no number"))
    for _ in range(2):
        with pytest.raises(ValueError, match="no number"):
            letter.words  # noqa: B018


def test_threads_that_look_at_a_lazy_field_together_see_the_same() -> None:
    lazy = lazy_maker(Letter)
    with ThreadPoolExecutor(8) as threads:
        for number in range(200):
            letter = lazy(Letter, "me", (str.upper, f"hello {number}"))
            assert set(threads.map(lambda _, letter=letter: letter.words, range(8))) == {f"HELLO {number}"}


@pytest.mark.parametrize("text", ["", "words", "ä🌳", "\ud800", "12:34 text 5:"])
def test_one_text_has_the_same_digest_whichever_way_it_is_written(text: str) -> None:
    for message in (user(text), replace(assistant(text), error=True)):
        assert text_digest_input(message, text.encode("utf-8", "surrogatepass")) == digest_input(message)
        assert draft(message).digest_input == digest_input(message)


MESSAGE = Message(
    "assistant",
    (
        Thinking("hm"),
        Text("words", extra={"ui": 1}),
        Media("image", "image/png", data=b"\x00\xff"),
        tool_call("c", "f", {"a": [1]}),
        ToolResult("c", (Text("r"), Other("odd", {"deep": None}))),
        Other("odd", [1, 2]),
    ),
    envelope={"id": "x"},
)
NODE = Node("abc123", None, 1_795_003_200_000_001, MESSAGE, digest=b"\x01")


def test_json_of_a_value_is_its_fields_and_a_message_comes_back_from_it() -> None:
    written = json.dumps({"node": NODE, "usage": Usage(1, cost=0.5)}, default=bough.asdict)
    assert json.loads(written)["node"] == bough.asdict(NODE)
    assert bough.asdict(NODE)["digest"] == "AQ=="
    assert bough.asdict(NODE)["message"]["blocks"][3]["type"] == "tool_call"
    assert bough.asdict([Usage(1)]) == [bough.asdict(Usage(1))]
    (again,) = formats.get("bough.jsonl").decode(json.loads(written)["node"]["message"]).messages
    assert again == MESSAGE


def test_the_standard_library_treats_values_as_dataclasses() -> None:
    assert dataclasses.is_dataclass(NODE)
    assert [field.name for field in dataclasses.fields(Text)] == ["text", "extra", "raw"]
    assert dataclasses.asdict(Text("a", raw=[1])) == {"text": "a", "extra": None, "raw": [1]}
    assert dataclasses.asdict(NODE)["message"]["blocks"][1]["text"] == "words"
    assert dataclasses.replace(NODE, label="x") == bough.replace(NODE, label="x")
    assert "words" in pprint.pformat(NODE)
    with pytest.raises(TypeError):
        bough.replace(NODE, lable="x")


@pytest.mark.skipif(sys.version_info < (3, 13), reason="copy.replace is new in Python 3.13")
def test_copy_replace_works() -> None:
    assert copy.replace(NODE, label="x").label == "x"  # type: ignore[attr-defined, unused-ignore]


def test_pydantic_accepts_values_and_writes_them_as_json() -> None:
    pydantic = pytest.importorskip("pydantic")
    model = pydantic.create_model("Reply", node=(Node, ...), usage=(list[Usage], []))
    reply = model(node=NODE, usage=[Usage(1)])
    assert reply.node is NODE
    assert json.loads(reply.model_dump_json()) == {"node": bough.asdict(NODE), "usage": [bough.asdict(Usage(1))]}
    assert model.model_json_schema()["properties"]["node"]["type"] == "object"
    with pytest.raises(pydantic.ValidationError, match="instance of Node"):
        model(node={"id": "abc123"})


def test_times_have_a_datetime_beside_the_integer() -> None:
    when = datetime(2026, 11, 18, 12, 0, 0, 1, UTC)
    assert NODE.created == when
    info = SessionInfo("s", None, None, None, 0, created_at=NODE.created_at, updated_at=NODE.created_at)
    assert info.created == info.updated == when
    turn = TurnInfo("t", "s", "complete", None, "t", started_at=NODE.created_at)
    assert (turn.started, turn.first_token, turn.finished) == (when, None, None)
    assert TrashEntry("t", NODE.created_at, "why", 1).deleted == when
