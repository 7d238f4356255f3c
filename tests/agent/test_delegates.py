"""Subagents in one process: linked and labelled sessions, limits and errors."""

from __future__ import annotations

import threading

from bough import Session, Store, tool_call
from bough.agent import Agent, Bound, Limits, Stop, delegate, run, tool
from tests.agent.fake_provider import FakeProvider, FakeReply, down

HAND_OVER = FakeReply("I ask.", (tool_call("c1", "scout", {"task": "Look for oaks."}),))


def test_a_delegated_task_runs_in_a_session_linked_to_the_call(store: Store, session: Session) -> None:
    scout = Agent(FakeProvider("Three oaks."), name="scout", description="Looks around.", instructions="Look.")
    provider = FakeProvider(HAND_OVER, "There are three.")
    done = run(Agent(provider, tools=[delegate(scout)]), session, "How many oaks?")
    assert done.text == "There are three."
    (info,) = store.sessions(parent=session.key)
    asked, answered = store.session(info.key).path()
    calling = session.path()[1]
    assert info.key.startswith("cli:default:delegate:scout:")
    assert (info.agent, info.parent_message_id) == ("scout", calling.id)
    assert (asked.message.text, answered.message.text) == ("Look for oaks.", "Three oaks.")
    run_id = info.key.rpartition(":")[2]
    assert {asked.label, answered.label} == {f"subagent:scout:{run_id}"}
    turn = store.turn_info(asked.id)
    assert (turn.caller_id, turn.caller_call) == (calling.id, "c1")
    (result,) = session.path()[2].message.results
    assert result.text == "Three oaks."
    assert result.extra == {"bough": {"session": info.key, "turn": asked.id}}
    assert (provider.tools[0][0].name, provider.tools[0][0].description) == ("scout", "Looks around.")


def test_the_session_of_a_subagent_is_never_continued_by_default(store: Store, session: Session) -> None:
    scout = Agent(FakeProvider("Three oaks."), name="scout")
    run(Agent(FakeProvider(HAND_OVER, "Three."), tools=[delegate(scout)]), session, "How many oaks?")
    assert [info.key for info in store.sessions(delegates=False)] == [session.key]
    assert not any(node.label for node in session.path())


def test_two_runs_of_one_agent_run_in_parallel(store: Store, session: Session) -> None:
    together = threading.Barrier(2)
    scout = Agent(FakeProvider(FakeReply("Seen.", before=lambda _: together.wait(30))), name="scout")
    calls = tuple(tool_call(f"c{side}", "scout", {"task": f"Look {side}."}) for side in ("left", "right"))
    run(Agent(FakeProvider(FakeReply("", calls), "Both seen."), tools=[delegate(scout)]), session, "Look both ways.")
    assert len(store.sessions(parent=session.key)) == 2


def test_a_failed_subagent_is_a_tool_error_and_its_turn_is_stored(store: Store, session: Session) -> None:
    lost = Agent(FakeProvider(down()), name="scout")
    run(Agent(FakeProvider(HAND_OVER, "A pity."), tools=[delegate(lost)]), session, "How many oaks?")
    (result,) = session.path()[2].message.results
    assert (result.error, result.text) == (True, "The provider is down.")
    (info,) = store.sessions(parent=session.key)
    assert [turn.status for turn in store.turns(info.key)] == ["failed"]


def test_a_subagent_that_reaches_its_limit_is_a_tool_error(session: Session) -> None:
    def look() -> str:
        return "trees"

    tireless = Agent(
        FakeProvider(*[FakeReply("", (tool_call(f"l{number}", "look"),)) for number in range(5)]),
        name="scout", tools=[tool(look)], limits=Limits(steps=2),
    )  # fmt: skip
    run(Agent(FakeProvider(HAND_OVER, "Enough."), tools=[delegate(tireless)]), session, "How many oaks?")
    (result,) = session.path()[2].message.results
    assert result.error
    assert result.text == "The agent 'scout' did not finish. Stopped at the limit of 2 steps."


def test_stopping_a_run_stops_its_subagents(store: Store, session: Session) -> None:
    stop, never = Stop(), threading.Event()

    def stall(place: int) -> None:
        if place == 1:
            stop.set()
            never.wait(30)

    scout = Agent(FakeProvider(FakeReply("Three oaks.", before=stall)), name="scout")
    done = run(Agent(FakeProvider(HAND_OVER), tools=[delegate(scout)]), session, "How many oaks?", stop=stop)
    assert (done.status, done.reason) == ("stopped", "stopped")
    (info,) = store.sessions(parent=session.key)
    finished = threading.Event()
    while not finished.wait(0.01):
        (turn,) = store.turns(info.key)
        if turn.status != "running":
            finished.set()
    never.set()
    assert (turn.status, turn.error) == ("stopped", "Stopped before the reply was complete.")


def test_an_empty_task_is_refused(session: Session) -> None:
    scout = Agent(FakeProvider("never asked"), name="scout")
    run(
        Agent(FakeProvider(FakeReply("", (tool_call("c1", "scout", {}),)), "ok"), tools=[delegate(scout)]),
        session,
        "go",
    )
    (result,) = session.path()[2].message.results
    assert result.error
    assert "A task in words" in result.text


class Itself:
    """The one tool of a lazy agent: itself."""

    def __init__(self) -> None:
        self.agent: Agent | None = None

    def tools(self) -> list[Bound]:
        assert self.agent is not None
        return [delegate(self.agent)]


def test_the_depth_of_delegation_is_limited(store: Store, session: Session) -> None:
    itself = Itself()
    itself.agent = Agent(FakeProvider(*[HAND_OVER] * 4, "Then I do it."), name="scout", tools=[itself])
    done = run(itself.agent, session, "Who works?")
    assert done.text == "Then I do it."
    deepest = max(store.sessions(), key=lambda info: info.key.count(":delegate:"))
    assert deepest.key.count(":delegate:") == 3
    (refused,) = store.session(deepest.key).path()[2].message.results
    assert "handed on 3 times already" in refused.text
