"""A question may have several answers: regenerating, and asking several models."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import bough
from bough import (
    Busy,
    Conflict,
    Invalid,
    NotFound,
    Refused,
    Store,
    Usage,
    assistant,
    formats,
    tool_call,
    tool_result,
)
from tests.contract.test_sessions import texts


def asked(store: Store, key: str = "s") -> Any:
    session = store.session(key)
    session.save_turn(["before", "fine"])
    session.save_turn(["question", "first"])
    return session


def half(session: Any, end: Callable[[Any], None]) -> Any:
    """An answer of which a part has come, ended."""
    with session.answer() as turn:
        turn.sketch("Half of")
        end(turn)
    return turn


# Regenerating -------------------------------------------------------------------------------------------------------


def test_23_another_answer_has_the_question_as_its_parent_and_takes_the_head(store: Store) -> None:
    session = asked(store)
    question, first = session.path()[-2:]
    with session.answer() as turn:
        assert "question" in str(turn.context("openai.chat").payload)
        assert "first" not in str(turn.context("openai.chat").payload)
        (reply,) = turn.add(assistant("second"), model="m2", usage=Usage(5, 5))
    assert texts(session) == ["before", "fine", "question", "second"]
    assert turn.id == reply
    info = store.turn_info(reply)
    assert (info.parent_id, info.last_id, info.status, info.model) == (question.id, reply, "complete", "m2")
    assert [node.id for node in store.children(question.id)] == [first.id, reply]
    assert session.usage().usage.input_tokens == 5
    assert store.verify(unreachable=True) == []
    session.move(first.id)
    assert texts(session)[-1] == "first"


def test_23_an_answer_has_its_id_before_it_has_a_message(store: Store) -> None:
    session = asked(store)
    with session.answer() as turn:
        before = turn.id
        assert not turn.begun
        with pytest.raises(NotFound):
            store.turn_info(before)
        (reply,) = turn.add("second")
        assert turn.begun
        assert reply == before == turn.id


def test_23_any_question_can_be_answered_again_by_its_id_or_that_of_its_answer(store: Store) -> None:
    session = asked(store)
    question, reply = session.path()[:2]
    for at in (question.id, reply.id):
        with session.answer(at) as turn:
            turn.add("again")
        assert texts(session) == ["before", "again"]
        assert store.turn_info(turn.id).parent_id == question.id
    with pytest.raises(NotFound):
        session.answer("nosuch")
    with pytest.raises(Refused, match="no question"):
        store.session("empty").answer()


def test_23_an_answer_with_tool_calls_is_one_turn_with_its_question(store: Store) -> None:
    session = asked(store)
    with session.answer() as turn:
        turn.add(assistant(tool_call("c", "f", {})))
        turn.add(tool_result("c", "r"))
        turn.add("second")
    assert [node.turn_id for node in session.path()[-3:]] == [turn.id] * 3
    session.rewind()
    assert texts(session) == ["before", "fine"]


def test_23_the_newest_turn_is_never_cut_between_a_question_and_its_answer(store: Store) -> None:
    session = asked(store)
    with session.answer() as turn:
        turn.add(assistant(tool_call("c", "f", {})))
        turn.add(tool_result("c", "long " * 2000))
        made = turn.context("openai.chat", budget=500)
        assert "question" in str(made.payload)
        assert formats.get("openai.chat").check(made.payload) == []
        turn.add("done")


def test_23_an_answer_takes_the_lease(store: Store) -> None:
    session = asked(store)
    with session.answer() as turn:
        for verb in (session.turn, session.answer):
            with pytest.raises(Busy):
                verb(wait=0)
        with pytest.raises(Busy):
            session.move(None)
        turn.add("second")
    session.move(None)


def test_23_an_answer_of_a_session_that_another_writer_took_over_is_a_side_branch(store: Store) -> None:
    session = asked(store)
    turn = session.answer(lease=0.0)
    session.save_turn(["next", "answer"])
    with pytest.raises(Conflict):
        turn.add("late")
    assert texts(session) == ["before", "fine", "question", "first", "next", "answer"]


# How it ends (13) ---------------------------------------------------------------------------------------------------


def test_23_an_answer_without_a_reply_leaves_the_former_one_in_the_dialog(store: Store) -> None:
    session = asked(store)
    ends: list[tuple[Callable[[Any], None], str]] = [
        (lambda turn: turn.complete(), "interrupted"),
        (lambda turn: turn.stop("enough"), "stopped"),
        (lambda turn: turn.fail("no credit"), "failed"),
        (lambda turn: turn.interrupt("limit"), "interrupted"),
    ]
    for end, status in ends:
        with session.answer() as turn:
            end(turn)
        assert turn.status == status
        assert texts(session)[-1] == "first"
        assert turn.info.status == status
    assert [info.status for info in session.unfinished] == ["interrupted", "failed", "interrupted"]
    assert store.verify() == []


def test_23_the_part_of_an_answer_that_a_person_stops_is_in_the_dialog(store: Store) -> None:
    session = asked(store)
    turn = half(session, lambda turn: turn.stop("enough"))
    assert texts(session)[-2:] == ["question", "Half of"]
    assert session.path()[-1].message.error
    assert session.head == turn.last == turn.id
    assert session.unfinished == []


@pytest.mark.parametrize("end", [lambda turn: turn.fail("no credit"), lambda turn: turn.interrupt()])
def test_23_an_answer_that_failed_is_resumed_with_the_question_and_not_the_half(store: Store, end: Any) -> None:
    session = asked(store)
    turn = half(session, end)
    assert texts(session)[-1] == "first"
    assert [info.id for info in session.unfinished] == [turn.id]
    with session.turn(resume=turn.id) as again:
        payload = str(again.context("openai.chat").payload)
        assert "question" in payload
        assert "Half" not in payload
        (reply,) = again.add("whole")
    assert texts(session)[-2:] == ["question", "whole"]
    assert again.id == reply
    with pytest.raises(NotFound):
        store.turn_info(turn.id)
    (node,) = store.get_messages([turn.id])
    assert (node.turn_id, node.message.error) == (reply, True)
    assert session.unfinished == []
    assert store.verify(unreachable=True) == []
    store.delete_session("s")
    assert store.size().messages == 0


def test_23_an_answer_that_is_resumed_and_cut_off_again_stays_resumable(store: Store) -> None:
    session = asked(store)
    turn = half(session, lambda turn: turn.fail("once"))
    with suppress(ZeroDivisionError), session.turn(resume=turn.id) as again:
        raise ZeroDivisionError
    assert (again.id, again.status) == (turn.id, "failed")
    with suppress(ZeroDivisionError), session.turn(resume=turn.id) as third:
        third.sketch("Another half")
        raise ZeroDivisionError
    assert [info.id for info in session.unfinished] == [third.id]
    with session.turn(resume=third.id) as last:
        last.add("whole")
    assert texts(session)[-1] == "whole"
    halves = [node for node in store.children(last.info.parent_id) if node.message.error]
    assert [node.turn_id for node in halves] == [last.id, last.id]
    assert store.verify(unreachable=True) == []


def test_23_an_answer_that_is_cut_off_after_a_tool_call_is_resumed_there(store: Store) -> None:
    session = asked(store)
    with session.answer() as turn:
        turn.add(assistant(tool_call("c", "f", {})))
        turn.add(tool_result("c", "r"))
        turn.sketch("Half")
        turn.interrupt()
    with session.turn(resume=turn.id) as again:
        assert again.id == turn.id
        again.add("whole")
    assert [node.message.text for node in session.path()[-3:]] == ["", "", "whole"]


def test_23_an_answer_whose_writer_is_gone_is_interrupted_with_what_had_come(connect: Callable[..., Any]) -> None:
    with connect() as store:
        session = asked(store)
        turn = session.answer(lease=0.0, model="m")
        turn.sketch("Half of")
        with store.session("s").turn("next", wait=0) as following:
            following.add("after")
        (info,) = store.turns("s", status="interrupted")
        assert (info.id, info.model) == (turn.id, "m")
        assert store.get_messages([info.id])[0].message.text == "Half of"
        assert store.verify(unreachable=True) == []


def test_23_what_an_answer_has_cost_is_counted_however_it_ends(store: Store) -> None:
    session = asked(store)
    with session.answer(spent=Usage(1, 1)) as turn:
        turn.add([], usage=Usage(10, 10))
        turn.fail("no credit")
    assert turn.info.usage.input_tokens == 11
    with session.turn(resume=turn.id) as again:
        again.add("whole", usage=Usage(100, 100), model="m")
    assert again.info.usage.input_tokens == 111
    assert session.usage().usage.input_tokens == 111
    assert store.verify() == []


def test_23_an_answer_said_again_under_its_key_adds_nothing(store: Store) -> None:
    session = asked(store)
    question = session.path()[-2].id
    for _ in range(2):
        with session.answer(question, idempotency_key="k") as turn:
            turn.add("second")
    assert turn.repeated
    assert len(store.children(question)) == 2
    with pytest.raises(Conflict, match="something else"):
        session.answer(session.path()[0].id, idempotency_key="k")
    session.save_turn(["more", "yes"])


def test_23_a_question_that_is_being_answered_is_not_deleted(store: Store) -> None:
    session = asked(store)
    question = session.path()[-2].id
    with session.answer() as turn:
        with pytest.raises(Refused, match="in the middle of a turn"):
            store.delete_messages([question], recursive=True)
        turn.add("second")


# Several models -----------------------------------------------------------------------------------------------------


def write(turn: Any, text: str | None, errors: list[BaseException] | None = None) -> None:
    try:
        with turn:
            if text is None:
                raise RuntimeError("overloaded")
            turn.sketch(text[:3])
            turn.add(text)
    except Exception as error:
        if errors is not None:
            errors.append(error)


def test_23_several_models_answer_at_once_each_in_its_own_turn(connect: Callable[..., Any]) -> None:
    with connect() as store:
        session = store.session("s")
        session.save_turn(["question", "first"])
        raw = getattr(session, "_facade", session)
        raw = getattr(raw, "sync", raw)
        with raw.answers(["a", "b", "c"], providers=["x", "y", "z"]) as answers:
            with pytest.raises(Busy):
                raw.turn("other", wait=0)
            threads = [
                threading.Thread(target=write, args=(turn, f"from {name}"))
                for turn, name in zip(answers, "abc", strict=True)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert answers.chosen is answers[0]
        assert texts(session) == ["question", "from a"]
        turns = [store.turn_info(turn.id) for turn in answers]
        assert [(t.model, t.provider, t.status) for t in turns] == [
            ("a", "x", "complete"), ("b", "y", "complete"), ("c", "z", "complete"),
        ]  # fmt: skip
        assert {t.parent_id for t in turns} == {answers.question}
        assert len(store.children(answers.question)) == 4
        assert store.verify(unreachable=True) == []


@pytest.fixture
def plain(anywhere: dict[str, Any]) -> Any:
    with bough.connect(**anywhere) as store:
        yield store


def test_23_the_head_goes_to_the_answer_that_is_named(plain: Store) -> None:
    session = asked(plain)
    with session.answers(["a", "b"]) as answers:
        for turn, text in zip(answers, ("from a", "from b"), strict=True):
            write(turn, text)
        answers.choose(answers[1])
        other = plain.session("o")
        with other.turn("x") as foreign:
            foreign.add("y")
        with pytest.raises(Invalid, match="none of these"):
            answers.choose(foreign)
    assert texts(session)[-1] == "from b"


def test_23_a_model_that_fails_does_not_get_the_head_and_can_be_resumed(plain: Store) -> None:
    session = asked(plain)
    with session.answers(["a", "b"]) as answers:
        answers.choose(answers[0])
        write(answers[0], None)
        write(answers[1], "from b")
    assert texts(session)[-1] == "from b"
    failed = answers[0].info
    assert (failed.status, failed.error, failed.model) == ("failed", "RuntimeError: overloaded", "a")
    with session.turn(resume=failed.id) as again:
        again.add("from a")
    assert texts(session)[-1] == "from a"
    assert plain.verify(unreachable=True) == []


def test_23_where_all_models_fail_the_head_stays(plain: Store) -> None:
    session = asked(plain)
    with session.answers(["a", "b"]) as answers:
        for turn in answers:
            write(turn, None)
    assert answers.chosen is None
    assert texts(session)[-1] == "first"
    session.save_turn(["next", "fine"])


def test_23_a_new_question_can_be_asked_of_several_models(plain: Store) -> None:
    session = asked(plain)
    with session.answers(["a", "b"], message="new question", idempotency_key="k") as answers:
        assert texts(session)[-1] == "first"
        write(answers[0], "from a")
        write(answers[1], "from b")
    assert texts(session)[-2:] == ["new question", "from a"]
    assert plain.turn_info(answers.question).status == "complete"
    with pytest.raises(Refused, match="asked and answered"):
        session.answers(["a"], message="new question", idempotency_key="k")
    session.rewind()
    assert texts(session)[-1] == "first"


def test_23_a_new_question_that_no_model_answers_is_interrupted_and_can_be_resumed(plain: Store) -> None:
    session = asked(plain)
    with session.answers(["a"], message="new question") as answers:
        write(answers[0], None)
    assert texts(session)[-1] == "first"
    assert answers.question in [info.id for info in session.unfinished]
    with session.turn(resume=answers.question) as turn:
        turn.add("at last")
    assert texts(session)[-2:] == ["new question", "at last"]
    assert plain.verify(unreachable=True) == []


def test_23_answers_whose_writer_is_gone_are_interrupted_and_whole_ones_stay(plain: Store) -> None:
    session = asked(plain)
    answers = session.answers(["a", "b", "c"], message="new question", lease=0.0)
    write(answers[0], None)
    answers[1].sketch("half")
    session.save_turn(["next", "fine"])
    assert texts(session)[-3:] == ["first", "next", "fine"]
    statuses = {info.model: info.status for info in plain.turns("s") if info.model}
    assert statuses == {"b": "interrupted", "c": "interrupted"} | {"a": statuses["a"]}
    with pytest.raises(Conflict):
        answers[1].add("late")
    assert plain.verify(unreachable=True) == []


def test_23_an_error_in_the_block_ends_all_answers(plain: Store) -> None:
    session = asked(plain)
    with suppress(ZeroDivisionError), session.answers(["a", "b"]) as answers:
        write(answers[0], "from a")
        raise ZeroDivisionError
    assert [turn.status for turn in answers] == ["complete", "failed"]
    assert texts(session)[-1] == "from a"
    session.save_turn(["next", "fine"])


def test_23_answers_without_a_model_are_refused(plain: Store) -> None:
    session = asked(plain)
    with pytest.raises(Invalid, match="at least one model"):
        session.answers([])
    with pytest.raises(Invalid, match="at least one model"):
        session.answers(["a"], providers=[])
    with pytest.raises(Invalid, match="new message"):
        session.answers(["a"], idempotency_key="k")
    with pytest.raises(Invalid, match="either a message"):
        session.answers(["a"], session.head, message="x")
