"""The loop: ask, act, ask again; every step kept, every end visible."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Session, Store, ToolResult, assistant, tool_call, user
from bough.agent import Agent, Answered, Began, Call, Called, Event, Limits, Replied, Result, Stop, run, tool
from bough.errors import BoughError, Invalid, ProviderError
from bough.providers.types import Piece
from tests.agent.fake_provider import Line, Speaker, down


def roles(session: Session) -> list[str]:
    return [node.role for node in session.path()]


def results(session: Session, turn: str | None = None) -> list[ToolResult]:
    path = session.path() if turn is None else session.store.path(session.store.turn_info(turn).last_id)
    return [result for node in path for result in node.message.results]


def girth(tree: str) -> str:
    """How far it is around a tree."""
    return f"{tree}: 4.1 m"


ASK = Line("I will measure it.", (tool_call("c1", "girth", {"tree": "oak"}),))


def test_a_call_is_made_and_its_result_goes_back_to_the_model(session: Session) -> None:
    speaker = Speaker(ASK, "It is 4.1 m around.")
    done = run(Agent(speaker, instructions="Be brief.", tools=[tool(girth)]), session, "How thick is the oak?")
    assert (done.status, done.reason, done.text) == ("complete", None, "It is 4.1 m around.")
    assert roles(session) == ["user", "assistant", "tool_result", "assistant"]
    assert session.head == done.last
    assert [result.text for result in results(session)] == ["oak: 4.1 m"]
    assert speaker.requests[1][-1] == {"role": "tool", "tool_call_id": "c1", "content": "oak: 4.1 m"}
    assert [one.name for one in speaker.tools[0]] == ["girth"]


def test_a_turn_knows_its_model_its_tokens_and_its_cost(session: Session) -> None:
    done = run(Agent(Speaker(ASK, "Thick."), instructions="Be brief.", tools=[tool(girth)]), session, "How thick?")
    info = session.store.turn_info(done.turn)
    assert (info.model, info.provider, info.request_id) == ("speaker-1", "speaker", "request-1")
    assert (info.usage.input_tokens, info.usage.output_tokens, info.usage.cost) == (20, 10, 0.5)
    assert done.usage == info.usage
    assert info.instructions_digest is not None
    assert info.first_token_at is not None


def test_what_happens_is_told_in_order(session: Session) -> None:
    events: list[Event] = []
    run(Agent(Speaker(ASK, "Thick."), tools=[tool(girth)]), session, "How thick?", listener=events.append)
    shown = [event.kind if isinstance(event, Piece) else type(event).__name__ for event in events]
    assert shown == ["Began", *["text"] * 4, "call", "Replied", "Called", "Answered", "text", "Replied"]
    began, answered = events[0], next(event for event in events if isinstance(event, Answered))
    assert isinstance(began, Began)
    assert began.turn == session.path()[0].id
    assert answered.id == session.path()[2].id


def test_the_next_turn_sees_the_one_before(session: Session) -> None:
    speaker = Speaker("One.", "Two.")
    for words in ("first", "second"):
        run(Agent(speaker), session, words)
    assert [message["content"] for message in speaker.requests[1]] == ["first", "One.", "second"]


def test_every_step_is_seen_by_another_connection_as_it_happens(session: Session, place: Path) -> None:
    seen: list[list[str]] = []

    def look(call: Call) -> str:
        """Looks at the store from outside."""
        with bough.connect(place) as other:
            (info,) = other.turns("cli:default", status="running")
            seen.append([node.role for node in other.path(info.last_id)])
        return "looked"

    lines = [Line("", (tool_call(f"c{number}", "look"),)) for number in range(2)]
    run(Agent(Speaker(*lines, "done"), tools=[tool(look)]), session, "look twice")
    assert seen == [["user", "assistant"], ["user", "assistant", "tool_result", "assistant"]]


# Calls --------------------------------------------------------------------------------------------------------------


def test_calls_of_one_reply_overlap_and_their_results_keep_the_order_of_the_calls(session: Session) -> None:
    together = threading.Barrier(3)
    second = threading.Event()

    def meet(name: str) -> str:
        together.wait(30)
        if name == "first":
            second.wait(30)  # the second is done before the first
        else:
            second.set()
        return name

    calls = tuple(tool_call(f"c{name}", "meet", {"name": name}) for name in ("first", "second", "third"))
    run(Agent(Speaker(Line("", calls), "done"), tools=[tool(meet)]), session, "meet")
    assert [(one.call_id, one.text) for one in results(session)] == [
        ("cfirst", "first"), ("csecond", "second"), ("cthird", "third"),
    ]  # fmt: skip


def test_a_result_is_durable_while_a_later_call_is_still_at_work(session: Session, place: Path) -> None:
    seen = threading.Event()

    def quick() -> str:
        return "quick"

    def slow() -> str:
        assert seen.wait(30)
        return "slow"

    def listen(event: Event) -> None:
        if isinstance(event, Answered) and event.result.text == "quick":
            with bough.connect(place) as other:
                assert other.get_messages([event.id])[0].message.results[0].text == "quick"
            seen.set()

    calls = (tool_call("c1", "quick"), tool_call("c2", "slow"))
    run(Agent(Speaker(Line("", calls), "done"), tools=[tool(quick), tool(slow)]), session, "both", listener=listen)
    assert [one.text for one in results(session)] == ["quick", "slow"]


def test_no_more_calls_than_allowed_are_at_work_at_once(session: Session) -> None:
    at_work, most, lock = 0, 0, threading.Lock()

    def work() -> str:
        nonlocal at_work, most
        with lock:
            at_work += 1
            most = max(most, at_work)
        threading.Event().wait(0.01)
        with lock:
            at_work -= 1
        return "done"

    calls = tuple(tool_call(f"c{number}", "work") for number in range(7))
    agent = Agent(Speaker(Line("", calls), "done"), tools=[tool(work)], limits=Limits(parallel=2))
    run(agent, session, "work")
    assert len(results(session)) == 7
    assert most <= 2


def broken() -> str:
    raise RuntimeError("the saw is blunt")


def refused() -> str:
    raise BoughError("Not on a Sunday.")


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("broken", "{}", "RuntimeError: the saw is blunt"),
        ("refused", "{}", "Not on a Sunday."),
        ("axe", "{}", "There is no tool 'axe'. There are: girth, broken, refused."),
        ("girth", '{"tree": ', "The arguments are not JSON"),
        ("girth", '["oak"]', "not a JSON object"),
        ("girth", '{"bush": "box"}', "The arguments do not fit"),
        ("girth", "", "The arguments do not fit: missing a required argument: 'tree'"),
    ],
)
def test_whatever_goes_wrong_with_a_call_is_told_to_the_model(
    session: Session, name: str, arguments: str, told: str
) -> None:
    speaker = Speaker(Line("", (tool_call("c1", name, arguments),)), "I see.")
    done = run(Agent(speaker, tools=[tool(girth), tool(broken), tool(refused)]), session, "go")
    (result,) = results(session)
    assert result.error
    assert told in result.text
    assert done.text == "I see."
    assert told in str(speaker.requests[1][-1]["content"])


def test_a_call_that_takes_too_long_is_given_up_and_told_so(session: Session) -> None:
    stopped = threading.Event()

    def hang(call: Call) -> str:
        call.stop.wait(30)
        stopped.set()
        return "too late"

    speaker = Speaker(Line("", (tool_call("c1", "hang"),)), "I see.")
    run(Agent(speaker, tools=[tool(hang)], limits=Limits(tool_seconds=0.05)), session, "go")
    (result,) = results(session)
    assert (result.error, result.text) == (True, "No answer within 0.05 seconds; given up.")
    assert stopped.wait(30)


def test_two_tools_of_one_name_are_both_reachable(session: Session) -> None:
    other = tool(lambda tree: f"{tree}: 5 feet", name="girth")
    speaker = Speaker(Line("", (tool_call("c1", "girth_2", {"tree": "elm"}),)), "done")
    run(Agent(speaker, tools=[tool(girth), other]), session, "go")
    assert [one.text for one in results(session)] == ["elm: 5 feet"]


def test_a_tool_may_answer_with_blocks_json_or_an_error_of_its_own(session: Session) -> None:
    picture = bough.Media("image", "image/png", data=b"\x89PNG")
    answers: dict[str, Any] = {
        "blocks": ["see", picture],
        "json": {"m": 4.1},
        "error": Result.failed("no"),
        "none": None,
    }
    tools = [
        tool(lambda answer=answer: answer, name=name, parameters={"type": "object"}) for name, answer in answers.items()
    ]
    calls = tuple(tool_call(f"c_{name}", name) for name in answers)
    run(Agent(Speaker(Line("", calls), "done"), tools=tools), session, "go")
    blocks, as_json, error, none = results(session)
    assert blocks.content == (bough.Text("see"), picture)
    assert as_json.text == '{"m": 4.1}'
    assert error.error
    assert none.content == ()


# Ends ---------------------------------------------------------------------------------------------------------------


def test_the_limit_of_steps_ends_the_run_and_says_so(session: Session) -> None:
    speaker = Speaker(*[Line("", (tool_call(f"c{number}", "girth", {"tree": "oak"}),)) for number in range(9)])
    done = run(Agent(speaker, tools=[tool(girth)], limits=Limits(steps=3)), session, "for ever")
    assert (done.status, done.reason) == ("interrupted", "steps")
    assert session.store.turn_info(done.turn).error == "Stopped at the limit of 3 steps."
    assert len(speaker.requests) == 3
    assert [one.text for one in results(session, done.turn)] == [
        "oak: 4.1 m", "oak: 4.1 m", "Not done: the run was stopped first.",
    ]  # fmt: skip
    assert session.head is None


def test_a_run_that_reached_its_limit_can_be_resumed(session: Session) -> None:
    speaker = Speaker(ASK, "It is thick.")
    agent = Agent(speaker, tools=[tool(girth)], limits=Limits(steps=1))
    stopped = run(agent, session, "How thick?")
    done = run(agent, session, resume=stopped.turn)
    assert (done.turn, done.status, done.text) == (stopped.turn, "complete", "It is thick.")
    assert roles(session) == ["user", "assistant", "tool_result", "assistant"]
    assert done.usage.input_tokens == 20


def test_the_limit_of_time_ends_a_stream_that_has_stalled_and_keeps_what_came(session: Session) -> None:
    never = threading.Event()
    speaker = Speaker(Line("two words more", before=lambda place: place < 2 or never.wait(30)))
    done = run(Agent(speaker, limits=Limits(seconds=0.2)), session, "talk")
    never.set()
    assert (done.status, done.reason, done.text) == ("interrupted", "time", "two words")
    assert session.store.turn_info(done.turn).error == "Stopped at the limit of 0.2 seconds."
    assert speaker.utterances[0].closed


def test_the_limit_of_time_ends_a_tool(session: Session) -> None:
    def hang(call: Call) -> str:
        call.stop.wait(30)
        return "too late"

    calls = (tool_call("c1", "hang"), tool_call("c2", "hang"))
    agent = Agent(Speaker(Line("", calls)), tools=[tool(hang)], limits=Limits(seconds=0.2, parallel=1))
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

    done = run(Agent(Speaker(Line("two words more", before=stall))), session, "talk", stop=stop)
    never.set()
    assert (done.status, done.reason, done.text) == ("interrupted", "stopped", "two words")


def test_a_provider_that_is_down_leaves_a_failed_turn_that_can_be_resumed(session: Session) -> None:
    with pytest.raises(ProviderError, match="not there"):
        run(Agent(Speaker(down())), session, "hello?")
    (info,) = session.turns()
    assert (info.status, info.error) == ("failed", "ProviderError: speaker is not there.")
    assert session.head is None
    done = run(Agent(Speaker("Here I am.")), session, resume=info.id)
    assert (done.status, [node.message.text for node in session.path()]) == ("complete", ["hello?", "Here I am."])


def cut(place: int) -> None:
    if place == 2:
        raise ProviderError("The connection was cut.", kind="cut")


def test_a_stream_that_is_cut_keeps_what_came_and_can_be_taken_up(session: Session) -> None:
    with pytest.raises(ProviderError, match="cut"):
        run(Agent(Speaker(Line("one two three", before=cut))), session, "count")
    (info,) = session.turns()
    half = session.store.path(info.last_id)[-1]
    assert (info.usage.input_tokens, info.usage.cost) == (10, 0.25)  # what was counted before the cut
    assert (half.message.text, half.message.error, info.status) == ("one two", True, "failed")
    speaker = Speaker("three")
    run(Agent(speaker), session, resume=info.id)
    assert [message["role"] for message in speaker.requests[0]][:2] == ["user", "assistant"]
    assert "cut off" in str(speaker.requests[0][-1]["content"])
    assert roles(session) == ["user", "assistant", "user", "assistant"]


def test_resuming_does_not_do_again_what_may_have_been_done(session: Session) -> None:
    counted: list[str] = []

    def count() -> str:
        counted.append("x")
        return "counted"

    turn = session.turn("count")
    turn.add(assistant(tool_call("c1", "count"), tool_call("c2", "count")))
    turn.add(bough.tool_result("c1", "counted"))
    turn.interrupt("power cut")
    speaker = Speaker("Once, perhaps twice.")
    done = run(Agent(speaker, tools=[tool(count)]), session, "go on", resume=turn.id)
    assert counted == []
    assert [(one.call_id, one.error) for one in results(session)] == [("c1", False), ("c2", True)]
    assert done.status == "complete"
    assert speaker.requests[0][-1] == {"role": "user", "content": "go on"}


def test_a_turn_that_only_was_not_closed_is_closed_without_asking(session: Session) -> None:
    turn = session.turn("hello")
    turn.add(assistant("All said."))
    turn.interrupt("power cut")
    speaker = Speaker("never asked")
    assert run(Agent(speaker), session, resume=turn.id).text == "All said."
    assert speaker.requests == []


def test_a_repeated_turn_asks_nobody(session: Session) -> None:
    speaker = Speaker("Once.")
    first = run(Agent(speaker), session, "go", idempotency_key="k1")
    again = run(Agent(speaker), session, "go", idempotency_key="k1")
    assert (again.turn, again.text, len(speaker.requests)) == (first.turn, "Once.", 1)


def test_an_answer_of_nothing_is_an_error_and_not_an_empty_reply(session: Session) -> None:
    class Mute(Speaker):
        def ask(self, messages: Any, **options: Any) -> Any:
            utterance = super().ask(messages, **options)
            utterance.reply = lambda: {"id": "x", "object": "chat.completion", "model": "m", "choices": []}  # type: ignore[method-assign]
            return utterance

    with pytest.raises(ProviderError, match="nothing at all"):
        run(Agent(Mute("")), session, "speak")
    assert [info.status for info in session.turns()] == ["failed"]


def test_an_interruption_says_what_was_begun_and_what_was_not(session: Session) -> None:
    def interrupt() -> str:
        return "done"

    def listen(event: Event) -> None:
        if isinstance(event, Answered):
            raise KeyboardInterrupt

    calls = tuple(tool_call(f"c{number}", "interrupt") for number in range(3))
    agent = Agent(Speaker(Line("", calls)), tools=[tool(interrupt)], limits=Limits(parallel=1))
    with pytest.raises(KeyboardInterrupt):
        run(agent, session, "go", listener=listen)
    (info,) = session.turns()
    assert [one.text for one in results(session, info.id)] == ["done", *["Not done: the run was stopped first."] * 2]


@pytest.mark.parametrize("limits", [{"steps": 0}, {"seconds": -1}, {"tool_seconds": 0}, {"parallel": 0}])
def test_limits_that_leave_nothing_to_do_are_refused(limits: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        Limits(**limits)


# What is asked ------------------------------------------------------------------------------------------------------


def test_every_request_is_fitted_to_the_window(session: Session) -> None:
    for number in range(20):
        session.save_turn([user(f"question {number} " + "word " * 200), assistant("answer " * 200)])
    speaker = Speaker(ASK, "done", window=4_000)
    run(Agent(speaker, tools=[tool(girth)]), session, "the last question")
    for request in speaker.requests:
        assert len(str(request)) < 4_000 * 3.5
        assert request[0]["role"] == "user"
    assert speaker.requests[1][-3]["content"] == "the last question"


def test_a_run_in_memory_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with bough.connect(":memory:") as store:
        done = run(Agent(Speaker(ASK, "Thick."), tools=[tool(girth)]), store.session("cli:secret"), "psst")
        assert done.status == "complete"
    assert list(tmp_path.iterdir()) == []


def test_listeners_that_fail_leave_a_failed_turn(store: Store, session: Session) -> None:
    def broken_pipe(event: Event) -> None:
        if isinstance(event, Replied):
            raise BrokenPipeError("nobody reads")

    with pytest.raises(BrokenPipeError):
        run(Agent(Speaker("Hello.")), session, "hi", listener=broken_pipe)
    assert [info.status for info in session.turns()] == ["failed"]


def test_called_is_told_before_a_tool_is_used(session: Session) -> None:
    told: list[str] = []

    def peek() -> str:
        return ",".join(told)

    def listen(event: Event) -> None:
        if isinstance(event, Called):
            told.append(event.call.call_id)

    run(Agent(Speaker(Line("", (tool_call("c1", "peek"),)), "ok"), tools=[tool(peek)]), session, "go", listener=listen)
    assert [one.text for one in results(session)] == ["c1"]
