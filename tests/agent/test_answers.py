"""Regenerating an answer, and asking several agents at once."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from bough import Invalid, ProviderError, Refused, Session, Store
from bough.agent import Agent, Began, Compaction, Limits, Replied, Stop, regenerate, run, run_several, tool
from bough.providers.types import Piece
from tests.agent.fake_provider import FakeProvider, FakeReply
from tests.agent.helpers import ASK, girth, roles


def texts(session: Session) -> list[str]:
    return [node.message.text for node in session.path()]


def agent(*replies: Any, **options: Any) -> Agent:
    return Agent(FakeProvider(*replies), **options)


def test_regenerating_streams_a_second_answer_below_the_same_question(session: Session) -> None:
    run(agent("The first."), session, "How old is it?")
    events: list[Any] = []
    again = agent("The second one.")
    done = regenerate(again, session, listener=events.append)
    assert (done.status, done.text) == ("complete", "The second one.")
    assert texts(session) == ["How old is it?", "The second one."]
    assert "first" not in str(again.provider.requests[0])  # type: ignore[attr-defined]
    assert events[0] == Began(done.turn)
    assert "".join(event.text for event in events if isinstance(event, Piece)) == "The second one."
    assert [event.nodes[0].id for event in events if isinstance(event, Replied)] == [done.turn]
    assert len(session.store.children(session.path()[0].id)) == 2


def test_a_regenerated_answer_may_call_tools(session: Session) -> None:
    run(agent("A guess."), session, "How thick?")
    done = regenerate(agent(ASK, "4.1 m.", tools=[tool(girth)]), session)
    assert done.text == "4.1 m."
    assert roles(session) == ["user", "assistant", "tool_result", "assistant"]
    assert session.store.verify(unreachable=True) == []


def test_a_question_before_the_last_can_be_answered_again(session: Session) -> None:
    first = run(agent("One."), session, "first?")
    run(agent("Two."), session, "second?")
    regenerate(agent("Other."), session, first.turn)
    assert texts(session) == ["first?", "Other."]
    with pytest.raises(Refused, match="no question"):
        regenerate(agent("x"), session.store.session("empty"))


def test_a_regenerated_answer_that_fails_leaves_the_dialog_and_is_resumed(session: Session) -> None:
    run(agent("The first."), session, "How old?")
    with pytest.raises(ProviderError):
        regenerate(agent(ProviderError("overloaded")), session)
    assert texts(session) == ["How old?", "The first."]
    (left,) = session.unfinished
    assert (left.status, left.error) == ("failed", "ProviderError: overloaded")
    done = run(agent("The second."), session, resume=left.id)
    assert done.text == "The second."
    assert texts(session) == ["How old?", "The second."]


def test_a_stream_that_breaks_leaves_half_an_answer_beside_the_dialog(session: Session) -> None:
    def breaks(word: int) -> None:
        if word == 2:
            raise ProviderError("cut")

    run(agent("The first."), session, "How old?")
    with pytest.raises(ProviderError):
        regenerate(agent(FakeReply("It is very old.", before=breaks)), session)
    (left,) = session.unfinished
    assert session.store.get_messages([left.id])[0].message.text == "It is"
    assert left.usage.input_tokens == 10
    again = agent("About 210 years.")
    run(again, session, resume=left.id)
    assert "It is" not in str(again.provider.requests[0])  # type: ignore[attr-defined]
    assert texts(session) == ["How old?", "About 210 years."]


def test_stopping_a_regenerated_answer_keeps_the_part_in_the_dialog(session: Session) -> None:
    stop = Stop()

    def wait(word: int) -> None:
        if word == 2:
            stop.set()
            time.sleep(0.2)

    run(agent("The first."), session, "How old?")
    done = regenerate(agent(FakeReply("It is very old.", before=wait)), session, stop=stop)
    assert (done.status, done.reason) == ("stopped", "stopped")
    assert texts(session) == ["How old?", "It is"]


def test_several_agents_answer_at_the_same_time(session: Session) -> None:
    together = threading.Barrier(3, timeout=10)

    def wait(word: int) -> None:
        if word == 0:
            together.wait()

    agents = [agent(FakeReply(f"From {name}.", before=wait)) for name in "abc"]
    seen: list[tuple[int, Any]] = []
    done = run_several(agents, session, "Who?", listener=lambda index, event: seen.append((index, event)))
    assert [one.text for one in done] == ["From a.", "From b.", "From c."]
    assert texts(session) == ["Who?", "From a."]
    assert {index for index, event in seen if isinstance(event, Replied)} == {0, 1, 2}
    assert len(session.store.children(session.path()[0].id)) == 3
    assert session.store.verify(unreachable=True) == []


def test_the_dialog_goes_on_with_the_answer_that_is_named(session: Session) -> None:
    run(agent("The first."), session, "Who?")
    done = run_several(
        [agent("short"), agent("much longer")],
        session,
        choose=lambda found: max(range(len(found)), key=lambda index: len(found[index].text)),
    )
    assert texts(session) == ["Who?", "much longer"]
    session.move(done[0].last)
    assert texts(session) == ["Who?", "short"]
    with pytest.raises(Invalid, match="no index"):
        run_several([agent("x")], session, choose=lambda _: 5)
    with pytest.raises(Invalid, match="At least one agent"):
        run_several([], session, "x")


def test_an_agent_that_fails_does_not_keep_the_others_from_answering(session: Session) -> None:
    done = run_several([agent(ProviderError("overloaded")), agent("fine")], session, "Who?")
    assert [(one.status, one.error) for one in done] == [("failed", "ProviderError: overloaded"), ("complete", None)]
    assert texts(session) == ["Who?", "fine"]
    run(agent("at last"), session, resume=done[0].turn)
    assert texts(session) == ["Who?", "at last"]


def test_stopping_several_agents_stops_all(session: Session) -> None:
    stop = Stop()

    def wait(word: int) -> None:
        if word == 1:
            stop.set()
            time.sleep(0.2)

    done = run_several([agent(FakeReply("one two three", before=wait)) for _ in range(2)], session, "Who?", stop=stop)
    assert {one.status for one in done} == {"stopped"}
    assert texts(session)[0] == "Who?"
    session.save_turn(["next", "fine"])


def test_ctrl_c_while_several_agents_answer_interrupts_all_and_frees_the_session(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = threading.Event()

    def wait(word: int) -> None:
        if word == 1:
            begun.set()
            time.sleep(0.2)

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        monkeypatch.undo()
        begun.wait(10)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_several([agent(FakeReply("one two three", before=wait)) for _ in range(2)], session, "Who?")
    assert session.head is None
    assert {info.status for info in session.turns()} == {"interrupted"}
    session.save_turn(["next", "fine"])


def test_a_dialog_that_is_too_long_is_summarized_before_several_agents_are_asked(session: Session) -> None:
    for number in range(6):
        session.save_turn([f"q{number}", "word " * 200])
    small = agent("Summary.", "Yes.", compaction=Compaction(at=800), budget=1000, limits=Limits(steps=3))
    done = run_several([small, agent("No.", budget=1000)], session, "More?")
    assert [node.kind for node in session.path()].count("summary") == 1
    assert [one.text for one in done] == ["Yes.", "No."]
    assert session.usage().usage.input_tokens == 30
    assert session.store.verify() == []


def test_a_killed_writer_leaves_the_head_where_it_was(store: Store) -> None:
    session = store.session("s")
    session.save_turn(["q", "a"])
    answers = session.answers(["x", "y"], lease=0.0)
    with answers[0] as turn:
        turn.add("whole")
    session.save_turn(["next", "fine"])
    assert texts(session) == ["q", "a", "next", "fine"]
