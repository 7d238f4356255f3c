"""Resuming a turn that was interrupted or failed."""

from __future__ import annotations

import pytest

import bough
from bough import Session, assistant, tool_call
from bough.agent import Agent, Limits, run, tool
from bough.errors import ProviderError
from tests.agent.fake_provider import FakeProvider, FakeReply, down
from tests.agent.helpers import ASK, girth, results, roles


def test_a_run_that_reached_its_limit_can_be_resumed(session: Session) -> None:
    provider = FakeProvider(ASK, "It is thick.")
    agent = Agent(provider, tools=[tool(girth)], limits=Limits(steps=1))
    stopped = run(agent, session, "How thick?")
    done = run(agent, session, resume=stopped.turn)
    assert (done.turn, done.status, done.text) == (stopped.turn, "complete", "It is thick.")
    assert roles(session) == ["user", "assistant", "tool_result", "assistant"]
    assert done.usage.input_tokens == 20


def test_a_turn_that_failed_on_a_provider_error_can_be_resumed(session: Session) -> None:
    with pytest.raises(ProviderError, match="is down"):
        run(Agent(FakeProvider(down())), session, "hello?")
    (info,) = session.turns()
    assert (info.status, info.error) == ("failed", "ProviderError: The provider is down.")
    assert session.head is None
    done = run(Agent(FakeProvider("Here I am.")), session, resume=info.id)
    assert (done.status, [node.message.text for node in session.path()]) == ("complete", ["hello?", "Here I am."])


def cut(place: int) -> None:
    if place == 2:
        raise ProviderError("The connection was cut.", kind="cut")


def test_a_turn_with_a_cut_stream_keeps_the_partial_reply_and_can_be_resumed(session: Session) -> None:
    with pytest.raises(ProviderError, match="cut"):
        run(Agent(FakeProvider(FakeReply("one two three", before=cut))), session, "count")
    (info,) = session.turns()
    half = session.store.path(info.last_id)[-1]
    assert (info.usage.input_tokens, info.usage.cost) == (10, 0.25)  # what was counted before the cut
    assert (half.message.text, half.message.error, info.status) == ("one two", True, "failed")
    provider = FakeProvider("three")
    run(Agent(provider), session, resume=info.id)
    assert [message["content"] for message in provider.requests[0]] == ["count"]
    assert roles(session) == ["user", "assistant"]
    assert [node.message.text for node in session.store.children(info.id)] == ["one two", "three"]


def test_resuming_does_not_repeat_calls_that_may_have_run(session: Session) -> None:
    counted: list[str] = []

    def count() -> str:
        counted.append("x")
        return "counted"

    turn = session.turn("count")
    turn.add(assistant(tool_call("c1", "count"), tool_call("c2", "count")))
    turn.add(bough.tool_result("c1", "counted"))
    turn.interrupt("power cut")
    provider = FakeProvider("Once, perhaps twice.")
    done = run(Agent(provider, tools=[tool(count)]), session, "go on", resume=turn.id)
    assert counted == []
    assert [(one.call_id, one.error) for one in results(session)] == [("c1", False), ("c2", True)]
    assert done.status == "complete"
    assert provider.requests[0][-1] == {"role": "user", "content": "go on"}


def test_resuming_a_turn_with_a_final_reply_ends_it_without_a_request(session: Session) -> None:
    turn = session.turn("hello")
    turn.add(assistant("All said."))
    turn.interrupt("power cut")
    provider = FakeProvider("never asked")
    assert run(Agent(provider), session, resume=turn.id).text == "All said."
    assert provider.requests == []
