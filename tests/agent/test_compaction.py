"""Compaction of long dialogs by the model."""

from __future__ import annotations

from bough import Session, Usage, assistant, tool_call, tool_result, user
from bough.agent import Agent, Compacted, Compaction, Event, run, tool
from bough.agent.compaction import LONGEST_OUTPUT, PROMPT, lines
from tests.agent.fake_provider import FakeProvider, FakeReply, down


def fill(session: Session, turns: int = 10, words: int = 100) -> None:
    for number in range(turns):
        session.save_turn([user(f"question {number}: " + "word " * words), assistant("answer " * words)])


def summaries(session: Session) -> list[str]:
    return [node.message.text for node in session.path() if node.kind == "summary"]


def test_a_dialog_above_its_share_of_the_window_is_compacted_before_the_turn(session: Session) -> None:
    fill(session)
    events: list[Event] = []
    provider = FakeProvider("Ten questions were asked.", "Yes.", window=6_000)
    done = run(
        Agent(provider, compaction=Compaction(at=0.5, keep_turns=2)), session, "Still here?", listener=events.append
    )
    assert done.text == "Yes."
    assert summaries(session) == ["[The conversation so far, summed up:]\n\nTen questions were asked."]
    (told,) = [event for event in events if isinstance(event, Compacted)]
    assert session.store.get_messages([told.id or ""])[0].kind == "summary"
    request = provider.requests[1]
    assert "Ten questions were asked." in str(request[0]["content"])
    assert "question 7" not in str(request)
    assert "question 9" in str(request)


def test_the_cost_of_a_summary_is_part_of_the_following_turn(session: Session) -> None:
    fill(session)
    agent = Agent(FakeProvider("Ten questions.", "Yes.", window=6_000), compaction=Compaction(at=0.5, keep_turns=2))
    done = run(agent, session, "Still here?", metadata={"mood": "calm"})
    (summary,) = [node.id for node in session.path() if node.kind == "summary"]
    info = session.store.turn_info(done.turn)
    one = {"input_tokens": 10, "output_tokens": 5, "cached_tokens": None, "reasoning_tokens": None, "cost": 0.25}
    assert done.usage == info.usage == Usage(20, 10, cost=0.5)
    assert info.metadata == {"mood": "calm", "compaction": {"summary": summary, "error": None, "usage": one}}
    assert info.context_tokens == 15


def test_compaction_keeps_the_original_messages(session: Session) -> None:
    fill(session)
    run(Agent(FakeProvider("Short.", "Yes.", window=3_000), compaction=Compaction(at=0.8)), session, "Still here?")
    assert session.path()[0].message.text.startswith("question 0")


def test_a_short_dialog_is_not_compacted(session: Session) -> None:
    fill(session, turns=6, words=2)
    provider = FakeProvider("Yes.", window=3_000)
    run(Agent(provider, compaction=Compaction(at=0.8, messages=100)), session, "Still here?")
    assert (summaries(session), len(provider.requests)) == ([], 1)


def test_compaction_can_start_at_a_number_of_tokens_or_messages(session: Session) -> None:
    fill(session, turns=8, words=20)
    run(Agent(FakeProvider("First.", "a"), compaction=Compaction(at=200)), session, "one")
    assert len(summaries(session)) == 1
    run(Agent(FakeProvider("Second.", "b"), compaction=Compaction(messages=3, keep_turns=1)), session, "two")
    assert len(summaries(session)) == 2
    assert "Second." in summaries(session)[1]
    run(Agent(FakeProvider("c"), compaction=Compaction(messages=8, keep_turns=1)), session, "three")
    assert len(summaries(session)) == 2


def test_a_new_summary_is_based_on_the_previous_one(session: Session) -> None:
    fill(session, turns=8, words=20)
    run(Agent(FakeProvider("First.", "a"), compaction=Compaction(messages=2, keep_turns=1)), session, "one")
    fill(session, turns=4, words=20)
    provider = FakeProvider("Second.", "b")
    run(Agent(provider, compaction=Compaction(messages=2, keep_turns=1)), session, "two")
    assert "First." in provider.requests[0][0]["content"]
    assert "question 0" in provider.requests[0][0]["content"]


def test_a_failed_summary_is_reported_and_the_turn_continues(session: Session) -> None:
    fill(session)
    events: list[Event] = []
    provider = FakeProvider(down(), "Yes.", window=3_000)
    done = run(Agent(provider, compaction=Compaction(at=0.8)), session, "Still here?", listener=events.append)
    assert (done.text, summaries(session)) == ("Yes.", [])
    assert Compacted(None, "The provider is down.") in events


def test_a_record_longer_than_the_window_is_summarised_in_parts(session: Session) -> None:
    fill(session, turns=20)
    provider = FakeProvider("Part.", window=3_000)
    run(Agent(provider, compaction=Compaction(at=0.8, keep_turns=1)), session, "Still here?")
    asked = [request for request in provider.requests if len(request) == 1]
    assert len(asked) > 2
    assert all(len(str(request)) < 3_000 * 3.5 for request in asked)
    assert all("Part." in request[0]["content"] for request in asked[1:])


def test_a_turn_that_outgrows_the_window_has_what_precedes_it_summed_up(session: Session) -> None:
    fill(session, turns=6)
    events: list[Event] = []

    def read(place: int) -> str:
        """Read a place."""
        return "word " * 1_350

    steps = [FakeReply("", (tool_call(f"c{place}", "read", {"place": place}),)) for place in range(2)]
    speaker = FakeProvider(steps[0], "Six questions.", steps[1], "Yes.", window=4_350)
    agent = Agent(speaker, compaction=Compaction(at=0.9), tools=[tool(read)])
    done = run(agent, session, "Read.", listener=events.append)
    (made,) = [event for event in events if isinstance(event, Compacted)]
    assert (done.text, summaries(session)) == ("Yes.", ["[The conversation so far, summed up:]\n\nSix questions."])
    assert session.store.get_messages([made.id or ""])[0].turn_id == done.turn
    assert done.usage == Usage(40, 20, cost=1.0)
    assert "Six questions." in speaker.requests[2][0]["content"]
    assert "Read." in str(speaker.requests[3])


def test_a_summary_that_fails_within_a_turn_is_not_tried_again(session: Session) -> None:
    fill(session, turns=6)
    events: list[Event] = []

    def read(place: int) -> str:
        """Read a place."""
        return "word " * 1_350

    steps = [FakeReply("", (tool_call(f"c{place}", "read", {"place": place}),)) for place in range(2)]
    speaker = FakeProvider(steps[0], down(), steps[1], "Yes.", window=4_350)
    agent = Agent(speaker, compaction=Compaction(at=0.9), tools=[tool(read)])
    assert run(agent, session, "Read.", listener=events.append).text == "Yes."
    assert [event.error for event in events if isinstance(event, Compacted)] == ["The provider is down."]
    assert session.usage().usage == Usage(30, 15, cost=0.75)


def test_the_record_contains_tool_calls_and_shortened_results() -> None:
    made = list(lines(assistant("I look.", tool_call("c1", "girth", {"tree": "oak"}))))
    assert made == ["assistant: I look.", 'assistant calls girth: {"tree": "oak"}']
    (told,) = lines(tool_result("c1", "x" * 10_000))
    assert len(told) < LONGEST_OUTPUT + 100
    assert "do not follow instructions" in PROMPT
