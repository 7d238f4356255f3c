"""The loop: requests, events, and how a turn is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Session, Store, assistant, tool_call, user
from bough.agent import Agent, Answered, Began, Call, Event, Replied, run, tool
from bough.errors import ProviderError
from bough.providers.types import Piece
from tests.agent.fake_provider import FakeProvider, FakeReply
from tests.agent.helpers import ASK, girth, results, roles


def test_a_tool_call_is_executed_and_its_result_is_sent_to_the_model(session: Session) -> None:
    provider = FakeProvider(ASK, "It is 4.1 m around.")
    done = run(Agent(provider, instructions="Be brief.", tools=[tool(girth)]), session, "How thick is the oak?")
    assert (done.status, done.reason, done.text) == ("complete", None, "It is 4.1 m around.")
    assert roles(session) == ["user", "assistant", "tool_result", "assistant"]
    assert session.head == done.last
    assert [result.text for result in results(session)] == ["oak: 4.1 m"]
    assert provider.requests[1][-1] == {"role": "tool", "tool_call_id": "c1", "content": "oak: 4.1 m"}
    assert [one.name for one in provider.tools[0]] == ["girth"]


def test_a_turn_records_model_tokens_and_cost(session: Session) -> None:
    done = run(Agent(FakeProvider(ASK, "Thick."), instructions="Be brief.", tools=[tool(girth)]), session, "How thick?")
    info = session.store.turn_info(done.turn)
    assert (info.model, info.provider, info.request_id) == ("fake-1", "fake", "request-1")
    assert (info.usage.input_tokens, info.usage.output_tokens, info.usage.cost) == (20, 10, 0.5)
    assert done.usage == info.usage
    assert info.instructions_digest is not None
    assert info.first_token_at is not None


def test_events_are_emitted_in_order(session: Session) -> None:
    events: list[Event] = []
    run(Agent(FakeProvider(ASK, "Thick."), tools=[tool(girth)]), session, "How thick?", listener=events.append)
    shown = [event.kind if isinstance(event, Piece) else type(event).__name__ for event in events]
    assert shown == ["Began", *["text"] * 4, "call", "Replied", "Called", "Answered", "text", "Replied"]
    began, answered = events[0], next(event for event in events if isinstance(event, Answered))
    assert isinstance(began, Began)
    assert began.turn == session.path()[0].id
    assert answered.id == session.path()[2].id


def test_a_request_contains_the_previous_turn(session: Session) -> None:
    provider = FakeProvider("One.", "Two.")
    for words in ("first", "second"):
        run(Agent(provider), session, words)
    assert [message["content"] for message in provider.requests[1]] == ["first", "One.", "second"]


def test_every_message_is_visible_to_other_connections_during_the_run(session: Session, place: Path) -> None:
    seen: list[list[str]] = []

    def look(call: Call) -> str:
        """Looks at the store from outside."""
        with bough.connect(place) as other:
            (info,) = other.turns("cli:default", status="running")
            seen.append([node.role for node in other.path(info.last_id)])
        return "looked"

    lines = [FakeReply("", (tool_call(f"c{number}", "look"),)) for number in range(2)]
    run(Agent(FakeProvider(*lines, "done"), tools=[tool(look)]), session, "look twice")
    assert seen == [["user", "assistant"], ["user", "assistant", "tool_result", "assistant"]]


def test_a_repeated_idempotency_key_sends_no_request(session: Session) -> None:
    provider = FakeProvider("Once.")
    first = run(Agent(provider), session, "go", idempotency_key="k1")
    again = run(Agent(provider), session, "go", idempotency_key="k1")
    assert (again.turn, again.text, len(provider.requests)) == (first.turn, "Once.", 1)


def test_a_reply_without_choices_is_an_error(session: Session) -> None:
    class Mute(FakeProvider):
        def ask(self, messages: Any, **options: Any) -> Any:
            stream = super().ask(messages, **options)
            stream.reply = lambda: {"id": "x", "object": "chat.completion", "model": "m", "choices": []}  # type: ignore[method-assign]
            return stream

    with pytest.raises(ProviderError, match="nothing at all"):
        run(Agent(Mute("")), session, "speak")
    assert [info.status for info in session.turns()] == ["failed"]


def test_every_request_fits_the_context_window(session: Session) -> None:
    for number in range(20):
        session.save_turn([user(f"question {number} " + "word " * 200), assistant("answer " * 200)])
    provider = FakeProvider(ASK, "done", window=4_000)
    run(Agent(provider, tools=[tool(girth)]), session, "the last question")
    for request in provider.requests:
        assert len(str(request)) < 4_000 * 3.5
        assert request[0]["role"] == "user"
    assert provider.requests[1][-3]["content"] == "the last question"


def test_a_run_in_memory_writes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with bough.connect(":memory:") as store:
        done = run(Agent(FakeProvider(ASK, "Thick."), tools=[tool(girth)]), store.session("cli:secret"), "psst")
        assert done.status == "complete"
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_a_listener_leaves_a_failed_turn(store: Store, session: Session) -> None:
    def broken_pipe(event: Event) -> None:
        if isinstance(event, Replied):
            raise BrokenPipeError("nobody reads")

    with pytest.raises(BrokenPipeError):
        run(Agent(FakeProvider("Hello.")), session, "hi", listener=broken_pipe)
    assert [info.status for info in session.turns()] == ["failed"]
