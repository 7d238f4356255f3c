"""Limits of a run, and stopping it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from bough import Session, tool_call
from bough.agent import Agent, Call, Limits, Stop, run, tool
from bough.errors import Invalid
from tests.agent.fake_provider import FakeProvider, FakeReply
from tests.agent.helpers import girth, results


def test_the_limit_of_steps_ends_the_run_with_a_reason(session: Session) -> None:
    provider = FakeProvider(
        *[FakeReply("", (tool_call(f"c{number}", "girth", {"tree": "oak"}),)) for number in range(9)]
    )
    done = run(Agent(provider, tools=[tool(girth)], limits=Limits(steps=3)), session, "for ever")
    assert (done.status, done.reason) == ("interrupted", "steps")
    assert session.store.turn_info(done.turn).error == "Stopped at the limit of 3 steps."
    assert len(provider.requests) == 3
    assert [one.text for one in results(session, done.turn)] == [
        "oak: 4.1 m", "oak: 4.1 m", "Not done: the run was stopped first.",
    ]  # fmt: skip
    assert session.head is None


def test_the_limit_of_time_ends_a_stalled_stream_and_keeps_the_partial_reply(session: Session) -> None:
    never = threading.Event()
    provider = FakeProvider(FakeReply("two words more", before=lambda place: place < 2 or never.wait(30)))
    done = run(Agent(provider, limits=Limits(seconds=0.2)), session, "talk")
    never.set()
    assert (done.status, done.reason, done.text) == ("interrupted", "time", "two words")
    assert session.store.turn_info(done.turn).error == "Stopped at the limit of 0.2 seconds."
    assert provider.streams[0].closed


def test_the_limit_of_time_ends_a_tool(session: Session) -> None:
    def hang(call: Call) -> str:
        call.stop.wait(30)
        return "too late"

    calls = (tool_call("c1", "hang"), tool_call("c2", "hang"))
    agent = Agent(FakeProvider(FakeReply("", calls)), tools=[tool(hang)], limits=Limits(seconds=0.2, parallel=1))
    done = run(agent, session, "go")
    assert (done.status, done.reason) == ("interrupted", "time")
    first, second = results(session, done.turn)
    assert first.text.startswith("Interrupted before it was done.")
    assert second.text == "Not done: the run was stopped first."


def test_a_run_can_be_stopped_from_another_thread(session: Session) -> None:
    stop, never = Stop(), threading.Event()

    def stall(place: int) -> None:
        if place == 2:
            stop.set()
            never.wait(30)

    done = run(Agent(FakeProvider(FakeReply("two words more", before=stall))), session, "talk", stop=stop)
    never.set()
    assert (done.status, done.reason, done.text) == ("stopped", "stopped", "two words")
    provider = FakeProvider("Go on, then.")
    run(Agent(provider), session, "more")
    assert [message["content"] for message in provider.requests[0]] == ["talk", "two words", "more"]


def test_a_run_that_its_caller_stops_for_a_limit_is_interrupted(session: Session) -> None:
    stop = Stop()
    stop.set(by_user=False)
    stop.set()
    done = run(Agent(FakeProvider("never asked")), session, "talk", stop=stop)
    assert (done.status, done.reason, session.head) == ("interrupted", "stopped", None)


def test_calls_that_a_person_stops_are_answered_as_stopped(session: Session) -> None:
    stop, never = Stop(), threading.Event()

    def saw() -> str:
        stop.set()
        never.wait(30)
        return "never seen"

    calls = (tool_call("c1", "saw"), tool_call("c2", "saw"))
    agent = Agent(FakeProvider(FakeReply("", calls)), tools=[tool(saw)], limits=Limits(parallel=1))
    done = run(agent, session, "go", stop=stop)
    never.set()
    assert done.status == "stopped"
    first, second = results(session)
    assert first.text.startswith("Stopped by the user before it was done.")
    assert second.text == "Not done: stopped by the user first."


@pytest.mark.parametrize("limits", [{"steps": 0}, {"seconds": -1}, {"tool_seconds": 0}, {"parallel": 0}])
def test_limits_that_are_not_positive_are_invalid(limits: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Limits(**limits)
