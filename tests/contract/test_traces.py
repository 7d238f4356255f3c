"""The trace of a session and its delegates, and the tool calls that are pending."""

from __future__ import annotations

import pytest

from bough import NotFound, Store, Usage, assistant, tool_call, tool_result, user
from tests.contract.test_sessions import talk


def test_a_trace_is_the_tree_of_the_delegates_of_a_session(store: Store) -> None:
    session = store.session("s")
    with session.turn("q") as turn:
        (asked,) = turn.add(assistant(tool_call("c1", "review")), usage=Usage(10, 1, cost=1.0))
        for number in (1, 2):
            worker = turn.delegate("review", f"run{number}", call_id="c1")
            worker.save_turn([user("task"), assistant("done")], usage=Usage(5, 1, cost=0.5))
        helper = worker.delegate("grep")
        helper.save_turn([user("find"), assistant("found")], usage=Usage(1, 1, cost=0.25))
        turn.delegate("test")
        turn.add(tool_result("c1", "done"))
        turn.add(assistant("a"))
    trace = session.trace()
    assert [(depth, one.session.key) for depth, one in trace.walk()] == [
        (0, "s"),
        (1, "s:delegate:review"),
        (2, "s:delegate:review:delegate:grep"),
        (1, "s:delegate:test"),
    ]
    review, test = trace.delegates
    assert [(turn.caller_id, turn.caller_call) for turn in review.turns] == [(asked, "c1")] * 2
    assert review.session.parent_message_id == asked
    assert (trace.usage.cost, review.usage.cost, test.usage, trace.total.cost) == (1.0, 1.0, Usage(), 2.25)
    assert [turn.id for turn in trace.turns] == [session.path()[0].id]
    assert helper.trace() == review.delegates[0]


def test_the_trace_of_a_session_shows_unfinished_turns_and_not_those_of_others(store: Store) -> None:
    session = store.session("s")
    talk(session, "a")
    with session.turn("b") as turn:
        turn.fail("no")
    talk(store.session("other"), "c")
    trace = session.trace()
    assert [turn.status for turn in trace.turns] == ["complete", "failed"]
    assert (trace.delegates, [one.session.key for _, one in trace.walk()]) == ((), ["s"])
    store.delete_session("s")
    with pytest.raises(NotFound):
        session.trace()


def test_calls_without_a_result_at_the_end_of_a_path_are_pending(store: Store) -> None:
    session = store.session("s")
    assert session.pending_calls() == []
    first, second = tool_call("c1", "look"), tool_call("c2", "look")
    with session.turn("q") as turn:
        assert turn.pending_calls() == []
        turn.add(assistant(first, second))
        assert turn.pending_calls() == [first, second]
        turn.add(tool_result("c1", "seen"))
        assert turn.pending_calls() == store.pending_calls(turn.last) == [second]
        turn.add(tool_result("c2", "seen"))
        assert turn.pending_calls() == []
        turn.add(assistant("a"))
    assert session.pending_calls() == []


def test_calls_are_pending_however_many_results_follow(store: Store) -> None:
    session = store.session("s")
    calls = [tool_call(f"c{number}", "look") for number in range(70)]
    session.append([user("q"), assistant(*calls), *(tool_result(call.call_id, "seen") for call in calls[1:])])
    assert session.pending_calls() == calls[:1]
    with pytest.raises(NotFound):
        store.pending_calls("zzzzzz")
