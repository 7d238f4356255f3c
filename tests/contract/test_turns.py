"""Turns: durable step by step, part of the session only when complete, never interleaved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bough import (
    Busy,
    Conflict,
    Invalid,
    NotFound,
    Refused,
    Save,
    Store,
    Text,
    Thinking,
    Usage,
    assistant,
    system,
    tool_call,
    tool_result,
    user,
)
from tests.contract.test_sessions import talk, texts


def test_a_turn_moves_the_head_when_it_completes(store: Store) -> None:
    session = store.session("s")
    with session.turn("question") as turn:
        assert session.path() == []
        turn.add(assistant("one moment", tool_call("c", "look")))
        turn.add([tool_result("c", "seen"), assistant("answer")])
        assert [node.message.role for node in turn.path()] == ["user", "assistant", "tool_result", "assistant"]
        assert session.path() == []
    assert turn.status == "complete"
    assert [node.turn_id for node in session.path()] == [turn.id] * 4


def test_the_input_is_durable_before_the_reply(connect: Callable[..., Any]) -> None:
    first = connect()
    turn = first.session("s").turn("will it be kept?")
    with connect() as second:
        assert second.get_messages([turn.id])[0].message.text == "will it be kept?"
        assert second.turn_info(turn.id).status == "running"
    turn.interrupt()
    first.close()


def test_an_error_leaves_the_turn_failed_visible_and_out_of_the_dialog(store: Store) -> None:
    session = store.session("s")
    talk(session, "before")
    with pytest.raises(RuntimeError, match="boom"):
        with session.turn("question") as turn:
            turn.add(assistant("half an ans"))
            raise RuntimeError("boom")
    assert texts(session) == ["before", "BEFORE"]
    info = store.turn_info(turn.id)
    assert (info.status, info.error) == ("failed", "RuntimeError: boom")
    assert [node.message.text for node in store.path(info.last_id)][-1] == "half an ans"


def test_ctrl_c_leaves_the_turn_interrupted(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(KeyboardInterrupt):
        with session.turn("question") as turn:
            turn.add(assistant("half"))
            raise KeyboardInterrupt
    assert store.turn_info(turn.id).status == "interrupted"
    assert session.path() == []


def test_an_interrupted_turn_is_resumed_by_its_id(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(KeyboardInterrupt):
        with session.turn("question") as turn:
            turn.add(assistant("half", tool_call("c", "look")), usage=Usage(10, 1))
            raise KeyboardInterrupt
    with session.turn(resume=turn.id) as again:
        again.add([tool_result("c", "seen"), assistant("whole")], usage=Usage(20, 2))
    assert texts(session) == ["question", "half", "", "whole"]
    assert store.turn_info(turn.id).usage == Usage(30, 3)


def test_resuming_is_refused_for_a_complete_turn_and_when_the_session_moved_on(store: Store) -> None:
    session = store.session("s")
    (ids,) = talk(session, "done")
    with pytest.raises(Refused, match="complete"):
        session.turn(resume=ids[0])
    turn = session.turn("left")
    turn.interrupt("for the test")
    talk(session, "went on")
    with pytest.raises(Conflict, match="fork at"):
        session.turn(resume=turn.id)
    with pytest.raises(NotFound):
        session.turn(resume=ids[1])


def test_a_turn_without_a_reply_is_not_complete(store: Store) -> None:
    session = store.session("s")
    with session.turn("anyone there?") as turn:
        pass
    assert turn.status == "interrupted"
    assert session.head is None


def test_a_turn_needs_no_input(store: Store) -> None:
    session = store.session("s")
    with session.turn() as turn:
        turn.add(assistant("the nightly report"))
    assert [node.message for node in session.path()] == [user(), assistant("the nightly report")]


def test_nothing_can_be_added_to_a_turn_that_ended(store: Store) -> None:
    with store.session("s").turn("q") as turn:
        turn.add(assistant("a"))
    with pytest.raises(Refused, match="complete"):
        turn.add(assistant("more"))


def test_a_second_writer_waits_and_then_gets_busy(store: Store) -> None:
    session = store.session("s")
    with session.turn("first") as turn:
        with pytest.raises(Busy, match="another turn"):
            session.turn("second", wait=0.05)
        with pytest.raises(Busy):
            talk_once = session.save_turn([user("third"), assistant("x")], wait=0.02)
            assert talk_once
        turn.add(assistant("done"))
    talk(session, "after")
    assert texts(session) == ["first", "done", "after", "AFTER"]


def test_a_second_writer_forks_if_it_asked_for_that(store: Store) -> None:
    session = store.session("s")
    talk(session, "before")
    with session.turn("first") as turn:
        with session.turn("second", wait=0.02, busy="fork") as other:
            other.add(assistant("elsewhere"))
        turn.add(assistant("here"))
    assert texts(session) == ["before", "BEFORE", "first", "here"]
    assert other.session.key != "s"
    assert texts(other.session) == ["before", "BEFORE", "second", "elsewhere"]


def test_an_expired_lease_is_taken_over_and_the_slow_writer_gets_a_conflict(store: Store) -> None:
    session = store.session("s")
    slow = session.turn("slow", lease=0.0)
    talk(session, "quick")
    with pytest.raises(Conflict, match="another writer"):
        slow.add(assistant("too late"))
    with pytest.raises(Conflict, match="side branch"):
        slow.complete()
    assert texts(session) == ["quick", "QUICK"]
    assert store.turn_info(slow.id).status == "interrupted"


def test_a_session_in_a_turn_is_not_moved_by_others(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    turn = session.turn("c")
    turn.add(assistant("C"))
    for move in (session.rewind, session.clear, lambda: store.delete_session("s")):
        with pytest.raises(Busy):
            move()
    with pytest.raises(Refused, match="middle of a turn"):
        store.delete_messages([turn.id], recursive=True)
    turn.complete()
    assert texts(session) == ["a", "A", "b", "B", "c", "C"]


def test_save_turn_after_a_message_is_compare_and_swap(store: Store) -> None:
    session = store.session("s")
    (first,) = talk(session, "a")
    session.save_turn([user("b"), assistant("B")], after=first[1])
    with pytest.raises(Conflict, match="moved on"):
        session.save_turn([user("late"), assistant("LATE")], after=first[1])
    assert texts(session) == ["a", "A", "b", "B"]


@pytest.mark.parametrize("messages", [[], [user("only a question")], [assistant("a"), user("b")]])
def test_a_complete_turn_ends_with_a_reply(store: Store, messages: list[Any]) -> None:
    session = store.session("s")
    with pytest.raises(Invalid, match="reply"):
        session.save_turn(messages)
    assert list(store.list_messages()) == []


def test_a_note_alone_is_a_turn(store: Store) -> None:
    session = store.session("s")
    session.save_turn([system("the user switched to another model")])
    assert len(session.path()) == 1


def test_an_idempotency_key_makes_a_turn_once(store: Store) -> None:
    session = store.session("s")
    once = session.save_turn([user("q"), assistant("a")], idempotency_key="k1")
    again = session.save_turn([user("q"), assistant("a")], idempotency_key="k1")
    assert once == again
    assert len(session.path()) == 2
    with session.turn("q", idempotency_key="k1") as turn:
        assert turn.repeated
        assert turn.add(assistant("a")) == once
    assert len(session.path()) == 2
    other = store.session("other")
    assert other.save_turn([assistant("a")], idempotency_key="k1") != once


def test_an_idempotency_key_with_other_messages_is_a_conflict(store: Store) -> None:
    session = store.session("s")
    before = session.save_turn([user("before"), assistant("b")])
    once = session.save_turn([user("q"), assistant("a")], idempotency_key="k")
    others = [
        [user("DIFFERENT"), assistant("a")],
        [user("q"), assistant("other")],
        [user("q"), assistant("a"), assistant("more")],
        [assistant("a")],
    ]
    for messages in others:
        with pytest.raises(Conflict, match="idempotency key 'k' and other messages; nothing was saved"):
            session.save_turn(messages, idempotency_key="k")
    with pytest.raises(Conflict, match="idempotency key 'k'"):
        session.turn("DIFFERENT", idempotency_key="k")
    assert [node.id for node in session.path()] == before + once
    with session.turn("q", idempotency_key="k", wait=0) as turn:
        assert turn.repeated
    session.save_turn([user("later"), assistant("l")])
    assert session.save_turn([user("q"), assistant("a")], idempotency_key="k") == once


def test_a_try_that_failed_gives_its_idempotency_key_up(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(RuntimeError):
        with session.turn("q", idempotency_key="k"):
            raise RuntimeError
    with session.turn("q", idempotency_key="k") as turn:
        assert not turn.repeated
        turn.add(assistant("a"))
    assert texts(session) == ["q", "a"]


def test_provenance_adds_up_over_a_turn(store: Store) -> None:
    session = store.session("s")
    with session.turn("q", model="m1", provider="p", instructions="be brief", metadata={"a": 1}) as turn:
        turn.add(assistant("1", tool_call("c", "x")), usage=Usage(100, 10, 80, 5, 0.5), first_token_at=77)
        turn.add(tool_result("c", "r"))
        turn.add(assistant("2"), usage=Usage(200, 20, cost=0.25), model="m2", request_id="req_9", metadata={"b": 2})
    info = turn.info
    assert info.usage == Usage(300, 30, 80, 5, 0.75)
    assert (info.model, info.provider, info.request_id, info.first_token_at) == ("m2", "p", "req_9", 77)
    assert info.metadata == {"a": 1, "b": 2}
    assert info.instructions_digest
    assert info.finished_at is not None
    assert info.started_at <= info.finished_at


def test_instructions_are_kept_only_when_asked(store: Store) -> None:
    session = store.session("s")
    with session.turn("q", instructions="be brief", keep_instructions=True) as kept:
        kept.add(assistant("a"))
    with session.turn("q", instructions="be brief") as digested:
        digested.add(assistant("a"))
    assert kept.info.metadata == {"instructions": "be brief"}
    assert digested.info.metadata is None
    assert kept.info.instructions_digest == digested.info.instructions_digest


def test_the_whole_reply_is_kept_with_the_message(store: Store) -> None:
    reply = {
        "id": "resp_1",
        "output": [{"type": "message", "text": "a" * 600}],
        "usage": {"total_tokens": 3},
        "new": None,
    }
    session = store.session("s")
    with session.turn("q") as turn:
        turn.add(assistant("a" * 600), raw=reply)
    assert session.path()[-1].message.envelope == reply


def test_totals_are_by_session_model_and_day(connect: Callable[..., Any]) -> None:
    day = 86_400_000_000
    clock = iter(range(day, day * 100, day // 2))
    with connect(clock=lambda: next(clock)) as store:
        for key, model, usage in (
            ("a", "m1", Usage(1, 1, cost=0.5)),
            ("a", "m2", Usage(2, 2)),
            ("b", "m1", Usage(4, 4, cost=1.0)),
        ):
            store.session(key).save_turn([user("q"), assistant("a")], model=model, usage=usage)
        (total,) = store.usage()
        assert (total.turns, total.usage.input_tokens, total.usage.cost, total.unpriced) == (3, 7, 1.5, 1)
        assert [(t.name, t.turns) for t in store.usage(by="session")] == [("a", 2), ("b", 1)]
        assert [(t.name, t.usage.output_tokens) for t in store.usage(by="model")] == [("m1", 5), ("m2", 2)]
        assert [(t.name, t.usage.cost) for t in store.usage("a", by="model")] == [("m1", 0.5), ("m2", None)]
        days = store.usage(by="day")
        assert all(t.name and t.name.startswith("1970-01-") for t in days)
        assert sum(t.turns for t in days) == 3
        assert store.session("a").usage().usage.input_tokens == 3
        with pytest.raises(NotFound):
            store.usage("nosuch")


def test_recording_a_dialog_stores_only_what_is_new(store: Store) -> None:
    session = store.session("s")
    dialog = [user("a"), assistant("A")]
    assert len(session.record(dialog)) == 2
    dialog += [user("b"), assistant("B", tool_call("c", "x")), tool_result("c", "r"), assistant("done")]
    assert len(session.record(dialog)) == 4
    assert session.record(dialog) == []
    assert [node.message for node in session.path()] == dialog
    assert [turn.status for turn in session.turns()] == ["complete", "complete"]


def test_recording_the_users_words_first_and_the_reply_later(store: Store) -> None:
    session = store.session("s")
    session.record([user("a"), assistant("A"), user("b")])
    assert texts(session) == ["a", "A"]
    assert len(session.record([user("a"), assistant("A"), user("b"), assistant("B")])) == 1
    assert texts(session) == ["a", "A", "b", "B"]
    assert [turn.status for turn in session.turns()] == ["complete", "complete"]


def test_recording_a_dialog_that_departs_makes_a_branch(store: Store) -> None:
    session = store.session("s")
    session.record([user("a"), assistant("A"), user("b"), assistant("B")])
    session.record([user("a"), assistant("A"), user("c"), assistant("C")])
    assert texts(session) == ["a", "A", "c", "C"]
    assert len(list(store.list_messages())) == 6
    assert session.record([user("a"), assistant("A"), user("b"), assistant("B")]) == []
    assert texts(session) == ["a", "A", "b", "B"]


def test_recording_an_older_state_of_the_same_dialog_changes_nothing(store: Store) -> None:
    session = store.session("s")
    session.record([user("a"), assistant("A"), user("b"), assistant("B")])
    assert session.record([user("a"), assistant("A")]) == []
    assert texts(session) == ["a", "A", "b", "B"]


def test_recording_recognises_a_dialog_of_another_session(store: Store) -> None:
    one, other = store.session("one"), store.session("other")
    one.record([user("a"), assistant("A")])
    assert len(other.record([user("a"), assistant("A"), user("b"), assistant("B")])) == 2
    assert len(list(store.list_messages())) == 4


def test_turns_are_listed_with_their_status(store: Store) -> None:
    session = store.session("s")
    talk(session, "a", "b")
    with pytest.raises(RuntimeError):
        with session.turn("c"):
            raise RuntimeError
    assert [turn.status for turn in session.turns()] == ["failed", "complete", "complete"]
    assert len(store.turns(status="complete", limit=1)) == 1
    with pytest.raises(NotFound, match="No turn begins"):
        store.turn_info(store.save_messages([Save(user("outside any turn"))])[0])


def test_a_sketch_is_replaced_by_the_whole_reply(store: Store) -> None:
    session = store.session("s")
    with session.turn("question") as turn:
        turn.sketch("The o")
        turn.sketch("The oak is")
        turn.add(assistant("The oak is old."))
    assert texts(session) == ["question", "The oak is old."]
    assert len(list(store.list_messages())) == 2


def test_a_sketch_without_its_reply_is_kept_as_the_last_words_of_an_interrupted_turn(store: Store) -> None:
    session = store.session("s")
    with pytest.raises(KeyboardInterrupt):
        with session.turn("question") as turn:
            turn.sketch(assistant(Thinking("hm"), "The oak\ud800 is"))
            raise KeyboardInterrupt
    info = store.turn_info(turn.id)
    last = store.get_messages([info.last_id])[0]
    assert info.status == "interrupted"
    assert (last.message.blocks, last.message.error) == ((Thinking("hm"), Text("The oak\ud800 is")), True)
    assert texts(session) == []


def test_what_half_a_reply_has_cost_can_be_added_without_losing_the_half(store: Store) -> None:
    turn = store.session("s").turn("count")
    turn.sketch("one two")
    turn.add([], usage=Usage(10, 2, cost=0.5))
    turn.interrupt("cut")
    info = store.turns("s")[0]
    assert [node.message.text for node in store.path(info.last_id)] == ["count", "one two"]
    assert info.usage == Usage(10, 2, cost=0.5)


def test_a_turn_that_ends_with_a_sketch_is_not_complete(store: Store) -> None:
    session = store.session("s")
    with session.turn("question") as turn:
        turn.add(assistant("let me see", tool_call("c", "look")))
        turn.add(tool_result("c", "seen"))
        turn.sketch("The oak")
    assert (turn.info.status, turn.info.error) == ("interrupted", "The reply was still being written.")
    assert store.get_messages([turn.info.last_id])[0].message.text == "The oak"
    assert store.verify() == []


def test_a_sketch_has_no_tool_calls(store: Store) -> None:
    with store.session("s").turn("question") as turn:
        with pytest.raises(Invalid, match="text and thinking only"):
            turn.sketch(assistant(tool_call("c", "look")))
        turn.add(assistant("answer"))


def test_the_sketch_of_a_dead_writer_is_found_by_the_next_one(connect: Callable[..., Any]) -> None:
    clock = [1_000_000_000_000_000]
    first = connect(clock=lambda: clock[0])
    turn = first.session("s").turn("question", lease=1)
    turn.sketch("The oak is")
    clock[0] += 2_000_000
    with connect(clock=lambda: clock[0]) as second:
        info = second.turn_info(turn.id)
        assert info.status == "interrupted"
        assert second.get_messages([info.last_id])[0].message.text == "The oak is"
    first.close()
