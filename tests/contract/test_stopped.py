"""How a turn ends, whether it is part of the dialog then, and what the next request contains."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import (
    Conflict,
    Invalid,
    Message,
    Refused,
    Store,
    Text,
    Thinking,
    assistant,
    formats,
    tool_call,
    tool_result,
    user,
)
from bough.exporters import jsonl
from bough.importers.bough_jsonl import IMPORTER
from bough.model.imported import Archive
from tests.contract.test_sessions import talk, texts

WIRES = [name for name in formats.names() if name != "bough.jsonl"]
STRICT = "claude-opus-4-6"
"""A model that refuses a request that ends with the assistant's words."""
CRASHED = [KeyboardInterrupt, SystemExit, GeneratorExit]


def payload_of(made: Any, format: str) -> str:
    """The payload as text, after checking it by the provider's rules."""
    assert formats.get(format).check(made.payload) == []
    return json.dumps(made.payload)


def sent(turn: Any, format: str) -> str:
    """What a turn sends, as text; also a model that does not go on from its own words must accept it."""
    made = turn.context(format)
    if format == "anthropic":
        assert formats.get(format).check({"model": STRICT, "max_tokens": 9, "messages": made.payload}) == []
    return payload_of(made, format)


# The rows of the table ----------------------------------------------------------------------------------------------


def test_13_a_turn_that_ends_by_its_last_reply_is_complete_and_in_the_dialog(store: Store) -> None:
    session = store.session("s")
    with session.turn("question") as turn:
        turn.add(assistant("answer"))
    assert turn.status == "complete"
    assert texts(session) == ["question", "answer"]
    assert "answer" in payload_of(session.context("openai.chat"), "openai.chat")


@pytest.mark.parametrize("format", WIRES)
def test_13_a_turn_that_a_person_stops_is_stopped_and_in_the_dialog(store: Store, format: str) -> None:
    session = store.session("s")
    talk(session, "before")
    with session.turn("question") as turn:
        turn.sketch("half an ans")
        turn.stop("enough")
    assert (turn.status, turn.info.status, turn.info.error) == ("stopped", "stopped", "enough")
    assert session.head == turn.info.last_id
    assert texts(session) == ["before", "BEFORE", "question", "half an ans"]
    assert session.path()[-1].message.error
    with session.turn("next") as after:
        text = sent(after, format)
        assert [text.count(part) for part in ("question", "half an ans", "next")] == [1, 1, 1]
        after.add(assistant("whole"))
    assert texts(session)[2:] == ["question", "half an ans", "next", "whole"]
    assert session.unfinished == []
    assert store.verify() == []


@pytest.mark.parametrize("ends", CRASHED)
def test_13_a_turn_whose_writer_ends_is_interrupted_and_beside_the_dialog(
    store: Store, ends: type[BaseException]
) -> None:
    session = store.session("s")
    talk(session, "before")
    with pytest.raises(ends):
        with session.turn("question") as turn:
            turn.sketch("half")
            raise ends
    assert texts(session) == ["before", "BEFORE"]
    assert [(info.id, info.status) for info in session.unfinished] == [(turn.id, "interrupted")]
    assert "question" not in payload_of(session.context("openai.chat"), "openai.chat")


def test_13_a_turn_that_ends_by_an_error_is_failed_and_resumable(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(RuntimeError):
        with session.turn("question") as turn:
            raise RuntimeError("boom")
    assert [(info.id, info.status) for info in session.unfinished] == [(turn.id, "failed")]
    with session.turn(resume=turn.id) as again:
        again.add(assistant("answer"))
    assert texts(session) == ["question", "answer"]
    assert session.unfinished == []


# Stopped ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", WIRES)
def test_a_question_that_was_stopped_before_any_reply_is_followed_by_the_next_words(store: Store, format: str) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.stop()
    assert texts(session) == ["question"]
    with session.turn("next") as after:
        text = sent(after, format)
        assert [text.count(part) for part in ("question", "next")] == [1, 1]
        after.add(assistant("answer"))
    payload_of(session.context(format), format)
    assert texts(session) == ["question", "next", "answer"]


@pytest.mark.parametrize("format", WIRES)
def test_calls_without_a_result_are_answered_as_stopped_by_the_user(store: Store, format: str) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.add(assistant("let me see", tool_call("c1", "look"), tool_call("c2", "listen")))
    turn.add(tool_result("c1", "seen"))
    turn.stop()
    with session.turn("next") as after:
        text = sent(after, format)
        assert text.count("Stopped by the user") == text.count("seen") == 1
        after.add(assistant("answer"))
    assert [len(node.message.results) for node in session.path()] == [0, 0, 1, 0, 0]  # nothing was stored for it


def test_calls_of_an_interrupted_turn_are_answered_as_cut_off(store: Store) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.add(assistant(tool_call("c1", "look")))
    turn.interrupt()
    with session.turn(resume=turn.id) as again:
        text = payload_of(again.context("openai.chat"), "openai.chat")
        again.add([tool_result("c1", "seen"), assistant("whole")])
    assert "cut off" in text
    assert "Stopped by the user" not in text


@pytest.mark.parametrize("format", WIRES)
def test_half_a_thought_that_was_stopped_gives_a_valid_request(store: Store, format: str) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.sketch(assistant(Thinking("hm")))
    turn.stop()
    with session.turn("next") as after:
        assert "next" in sent(after, format)
        after.add(assistant("answer"))


def test_nothing_can_be_added_to_a_stopped_turn_nor_is_it_resumed(store: Store) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.stop()
    turn.stop("twice changes nothing")
    turn.complete()
    assert turn.info.error is None
    with pytest.raises(Refused, match="is stopped"):
        turn.add(assistant("late"))
    with pytest.raises(Refused, match="is stopped"):
        session.turn(resume=turn.id)


def test_stopping_a_turn_that_was_taken_over_is_a_conflict(store: Store) -> None:
    session = store.session("s")
    slow = session.turn("slow", lease=0.0)
    talk(session, "quick")
    with pytest.raises(Conflict, match="side branch"):
        slow.stop()
    assert texts(session) == ["quick", "QUICK"]
    assert slow.info.status == "interrupted"


def test_an_idempotency_key_of_a_stopped_turn_adds_nothing_again(store: Store) -> None:
    session = store.session("s")
    session.turn("question", idempotency_key="k").stop()
    with session.turn("question", idempotency_key="k") as again:
        assert (again.repeated, again.status) == (True, "stopped")
    assert texts(session) == ["question"]


def test_a_stopped_turn_is_rewound_forked_deleted_and_restored_as_any(store: Store) -> None:
    session = store.session("s")
    talk(session, "before")
    turn = session.turn("question")
    turn.sketch("half")
    turn.stop()
    assert texts(session.fork()) == ["before", "BEFORE", "question", "half"]
    session.rewind()
    assert texts(session) == ["before", "BEFORE"]
    store.delete_messages([turn.id], recursive=True)
    store.restore(turn.id)
    assert store.turn_info(turn.id).status == "stopped"
    assert store.verify() == []


def test_a_stopped_turn_is_stopped_in_a_copy_and_in_an_archive(store: Store, tmp_path: Path) -> None:
    session = store.session("s")
    with session.turn("question") as turn:
        turn.sketch("half an ans")
        turn.stop("enough")
    source = getattr(store, "sync", store)
    (tmp_path / "all.jsonl").write_text("".join(jsonl.everything(source)))
    with bough.connect(":memory:") as copied, bough.connect(":memory:") as imported:
        source.copy_to(copied)
        for archive in IMPORTER.read(tmp_path / "all.jsonl"):
            assert isinstance(archive, Archive)
            imported.bring_in(archive)
        for other in (copied, imported):
            assert (other.turns(), texts(other.session("s"))) == (store.turns(), ["question", "half an ans"])
            assert (other.session("s").unfinished, other.verify()) == ([], [])


def test_a_stopped_turn_is_listed_and_drawn_by_its_status(store: Store) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.stop()
    assert [info.id for info in store.turns(status="stopped")] == [turn.id]
    assert [tree.node.status for tree in store.outline()] == ["stopped"]
    with pytest.raises(Invalid, match="complete, stopped, interrupted, failed"):
        store.turns(status="finished")


# Unfinished ---------------------------------------------------------------------------------------------------------


def test_whoever_opens_the_session_next_sees_the_turn_of_a_dead_writer(connect: Callable[..., Any]) -> None:
    clock = [1_000_000_000_000_000]
    first, second = connect(clock=lambda: clock[0]), connect(clock=lambda: clock[0])
    turn = first.session("s").turn("question", lease=1)
    turn.sketch("half")
    assert second.session("s").unfinished == []  # it is being written
    clock[0] += 2_000_000
    assert [(info.id, info.status) for info in second.session("s").unfinished] == [(turn.id, "interrupted")]
    with second.session("s").turn(resume=turn.id) as again:
        again.add(assistant("whole"))
    assert second.session("s").unfinished == []
    first.close()
    second.close()


def test_only_turns_that_begin_where_the_session_stands_are_unfinished(store: Store) -> None:
    session = store.session("s")
    left = session.turn("left")
    left.interrupt()
    other = session.turn("left again")
    other.fail("boom")
    assert [info.id for info in session.unfinished] == [other.id, left.id]
    talk(session, "went on")
    assert session.unfinished == []
    session.turn("stopped").stop()
    assert session.unfinished == []


# Half replies -------------------------------------------------------------------------------------------------------


def halved(session: Any, question: str = "question") -> Any:
    """A turn that was cut off in the middle of its reply."""
    turn = session.turn(question)
    turn.sketch("half an ans")
    turn.interrupt()
    return turn


@pytest.mark.parametrize("format", WIRES)
def test_a_resumed_turn_sends_the_question_and_not_the_half(store: Store, format: str) -> None:
    session = store.session("s")
    talk(session, "before")
    turn = halved(session)
    with session.turn(resume=turn.id) as again:
        text = sent(again, format)
        assert (text.count("question"), text.count("half an ans")) == (1, 0)
        again.add(assistant("the whole answer"))
    assert texts(session) == ["before", "BEFORE", "question", "the whole answer"]
    assert "half an ans" not in payload_of(session.context(format), format)


def test_the_half_stays_beside_the_dialog_as_a_sibling_of_the_whole(store: Store) -> None:
    session = store.session("s")
    turn = halved(session)
    half = turn.info.last_id
    with session.turn(resume=turn.id) as again:
        assert [node.id for node in again.path()] == [turn.id]
        again.sketch("half again")
        again.interrupt()
    with session.turn(resume=turn.id) as again:
        again.add(assistant("whole"))
    assert [node.message.text for node in store.children(turn.id)] == ["half an ans", "half again", "whole"]
    assert {node.turn_id for node in store.children(turn.id)} == {turn.id}
    assert store.path(half)[-1].message.error
    assert (turn.info.status, turn.info.last_id) == ("complete", session.head)
    assert store.verify() == []


def test_a_turn_cut_off_after_a_tool_result_is_resumed_at_the_result(store: Store) -> None:
    session = store.session("s")
    turn = session.turn("question")
    turn.add([assistant(tool_call("c", "look")), tool_result("c", "seen")])
    turn.sketch("half")
    turn.interrupt()
    with session.turn(resume=turn.id) as again:
        assert [node.role for node in again.path()] == ["user", "assistant", "tool_result"]
        again.add(assistant("whole"))
    assert session.turns()[0].usage == turn.info.usage
    assert [node.role for node in session.path()] == ["user", "assistant", "tool_result", "assistant"]


def test_the_half_goes_with_its_session_and_comes_back(store: Store) -> None:
    session = store.session("s")
    turn = halved(session)
    with session.turn(resume=turn.id) as again:
        again.add(assistant("whole"))
    store.delete_session("s")
    assert list(store.list_messages()) == []
    store.restore("s")
    assert len(list(store.list_messages())) == 3
    assert texts(session) == ["question", "whole"]
    store.delete_messages([turn.id], recursive=True)
    assert list(store.list_messages()) == []
    assert store.verify() == []


def test_a_fork_from_the_half_keeps_it(store: Store) -> None:
    session = store.session("s")
    turn = halved(session)
    fork = store.fork(turn.info.last_id)
    with session.turn(resume=turn.id) as again:
        again.add(assistant("whole"))
    store.delete_session("s")
    assert [node.message for node in fork.path()] == [
        user("question"),
        Message("assistant", (Text("half an ans"),), True),
    ]
