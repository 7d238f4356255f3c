"""`turn.add` refuses no reply: what nobody understands is kept as it came, with a warning, and left out of requests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Store, formats, user
from bough.errors import FormatError, FormatWarning
from bough.formats.content import UNREADABLE
from bough.model import Json, Other


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "any.db") as opened:
        yield opened


def test_a_reply_that_no_format_knows_is_kept_whole(store: Store) -> None:
    reply = {"oracle": {"says": "maybe"}}
    session = store.session("cli:x")
    with session.turn("hi") as turn:
        with pytest.warns(FormatWarning, match="No format knows this reply; it is kept as it came"):
            turn.add(reply)
    (block,) = session.path()[-1].message.blocks
    assert block == Other("reply", {UNREADABLE: reply})
    with session.turn("and?") as turn:
        for name in formats.names():
            made = turn.context(name)
            assert "maybe" not in str(made.payload) or name == "bough.jsonl"
        turn.add("done")


@pytest.mark.parametrize(
    "reply",
    [
        {"choices": [{"index": 0, "message": {"role": None, "content": 5, "tool_calls": [{"id": 1}, "x"]}}]},
        {"type": "message", "role": "assistant", "stop_reason": "end_turn", "content": [{"type": "tool_use"}, None]},
        {"output": {"message": {"role": "assistant", "content": [{"toolUse": {}}]}}},
        {"candidates": [{"content": {"parts": [{"functionCall": {}}]}}]},
        {"object": "response", "output": [{"type": "function_call"}, {"no": "type"}]},
    ],
)
def test_a_malformed_part_of_a_reply_is_kept_and_the_rest_is_read(store: Store, reply: Json) -> None:
    with store.session("cli:x").turn("hi") as turn:
        with pytest.warns(FormatWarning, match="A part of this reply of .* cannot be read"):
            turn.add(reply)
        turn.add(user("and?"))
        name = formats.detect(reply)
        assert name is not None
        losses = {loss.code for loss in turn.context(name).losses}
        assert losses == {"dropped_other", "blank_replaced"}


def test_what_is_neither_json_nor_an_object_of_an_sdk_is_an_error(store: Store) -> None:
    with store.session("cli:x").turn("hi") as turn:
        with pytest.raises(FormatError, match="made of dicts, lists or an SDK's objects"):
            turn.add(object())
        with pytest.raises(FormatError, match="A reply is an object or a list, not 5"):
            turn.add(5)
        turn.add("done")


def test_the_items_of_a_conversation_are_a_dialog() -> None:
    asked = {"type": "message", "id": "msg_1", "status": "completed", "role": "user",
             "content": [{"type": "input_text", "text": "hi"}]}  # fmt: skip
    answered = {"type": "message", "id": "msg_2", "status": "completed", "role": "assistant",
                "content": [{"type": "output_text", "text": "hello", "annotations": []}]}  # fmt: skip
    page = {"object": "list", "data": [asked, answered], "first_id": "msg_1", "last_id": "msg_2", "has_more": False}
    assert formats.detect(page) == "openai.responses"
    decoded = formats.get("openai.responses").decode(page)
    assert [(one.role, one.text) for one in decoded.messages] == [("user", "hi"), ("assistant", "hello")]
    assert formats.get("openai.responses").encode(decoded.messages).payload == [asked, answered]


def test_the_content_of_an_anthropic_reply_is_taken_for_one() -> None:
    content = [{"type": "text", "text": "Let me look."}, {"type": "tool_use", "id": "t1", "name": "f", "input": {}}]
    assert formats.detect(content) == "anthropic"
    (message,) = formats.get("anthropic").decode(content).messages
    assert (message.role, message.calls[0].name) == ("assistant", "f")
    (message,) = formats.get("anthropic").decode([{"type": "tool_result", "tool_use_id": "t1"}]).messages
    assert message.role == "tool_result"
