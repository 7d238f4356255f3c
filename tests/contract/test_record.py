"""A dialog that an application holds is recorded in a session that its first message names."""

from __future__ import annotations

from typing import Any

import pytest

import bough
from bough import assistant, user

REPLY = {
    "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
}  # fmt: skip


def test_the_session_of_a_dialog_is_named_after_its_first_message(store: Any) -> None:
    session = store.record("proxy:codex", [user("Is it?")], reply=REPLY, provider="openai", request_id="req_1")
    first, reply = session.path()
    assert session.key == f"proxy:codex:{first.id}"
    assert [node.message.text for node in (first, reply)] == ["Is it?", "Yes."]
    (turn,) = session.turns()
    assert (turn.status, turn.model, turn.provider, turn.usage.input_tokens) == ("complete", "m-1", "openai", 7)
    (info,) = session.replies()
    assert (info.message_id, info.request_id, info.usage.output_tokens) == (reply.id, "req_1", 2)


def test_a_longer_dialog_adds_only_what_is_new(store: Any) -> None:
    first = store.record("proxy:x", [user("a")], reply=REPLY)
    before = store.size().messages
    again = store.record("proxy:x", [user("a"), assistant("Yes."), user("b")], reply=REPLY, metadata={"k": 1})
    assert (again.key, store.size().messages) == (first.key, before + 2)
    newest, oldest = again.turns()
    assert (newest.metadata or {})["k"] == 1
    assert "k" not in (oldest.metadata or {})


def test_a_question_without_a_reply_is_completed_when_the_reply_is_recorded(store: Any) -> None:
    store.record("proxy:x", [user("a")])
    session = store.record("proxy:x", [user("a")], reply=REPLY)
    (turn,) = session.turns()
    assert (turn.status, turn.usage.input_tokens, len(session.path())) == ("complete", 7, 2)


def test_the_last_message_of_a_dialog_can_be_named(store: Any) -> None:
    for name in ("one", "two"):  # the same reply twice is one message with two names
        session = store.record("chat", [user("a")], reply=REPLY, external_name=("test", name))
        assert store.find_external("test", name) == session.head
    assert [found.value for found in store.names("test")] == ["one", "two"]
    assert [found.value for found in store.names("test", descending=True, after="two", limit=5)] == ["one"]
    store.forget_name("test", "one")
    store.forget_name("test", "one")
    assert [found.value for found in store.names("test", limit=9)] == ["two"]


def test_an_empty_dialog_is_refused(store: Any) -> None:
    with pytest.raises(bough.Invalid):
        store.record("proxy:x", [])


def test_a_turn_opens_only_after_the_message_that_its_writer_has_seen(store: Any) -> None:
    session = store.session("a")
    ids = session.save_turn([user("q"), assistant("a")])
    with session.turn("r", after=ids[-1], external_name=("test", "r")) as turn:
        turn.add("b")
    assert store.find_external("test", "r") == turn.id
    with pytest.raises(bough.Conflict, match="moved on"):
        with session.turn("s", after=ids[-1]) as late:
            late.add("c")
    assert len(session.path()) == 4


def test_the_metadata_of_an_ended_turn_can_be_added_to(store: Any) -> None:
    session = store.session("a")
    first, _ = session.save_turn([user("q"), assistant("a")], metadata={"kept": 1, "gone": 2})
    store.annotate_turn(first, {"new": [3], "gone": None})
    assert store.turn_info(first).metadata == {"kept": 1, "new": [3]}
    with pytest.raises(bough.NotFound):
        store.annotate_turn("zzzzzz", {})
