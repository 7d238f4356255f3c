"""Tool calls of a run: order, errors and results."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Session, tool_call
from bough.agent import Agent, Answered, Call, Called, Event, Limits, Result, run, tool
from bough.errors import BoughError
from tests.agent.fake_provider import FakeProvider, FakeReply
from tests.agent.helpers import girth, results


def test_calls_of_one_reply_run_in_parallel_and_results_keep_the_order_of_calls(session: Session) -> None:
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
    run(Agent(FakeProvider(FakeReply("", calls), "done"), tools=[tool(meet)]), session, "meet")
    assert [(one.call_id, one.text) for one in results(session)] == [
        ("cfirst", "first"), ("csecond", "second"), ("cthird", "third"),
    ]  # fmt: skip


def test_a_result_is_durable_before_a_later_call_ends(session: Session, place: Path) -> None:
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
    run(
        Agent(FakeProvider(FakeReply("", calls), "done"), tools=[tool(quick), tool(slow)]),
        session,
        "both",
        listener=listen,
    )
    assert [one.text for one in results(session)] == ["quick", "slow"]


def test_the_limit_of_parallel_calls_is_kept(session: Session) -> None:
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
    agent = Agent(FakeProvider(FakeReply("", calls), "done"), tools=[tool(work)], limits=Limits(parallel=2))
    run(agent, session, "work")
    assert len(results(session)) == 7
    assert most <= 2


def broken() -> str:
    raise RuntimeError("the saw is blunt")


def refused() -> str:
    raise BoughError("Not on a Sunday.")


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
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
def test_every_error_of_a_call_is_sent_to_the_model(session: Session, name: str, arguments: str, message: str) -> None:
    provider = FakeProvider(FakeReply("", (tool_call("c1", name, arguments),)), "I see.")
    done = run(Agent(provider, tools=[tool(girth), tool(broken), tool(refused)]), session, "go")
    (result,) = results(session)
    assert result.error
    assert message in result.text
    assert done.text == "I see."
    assert message in str(provider.requests[1][-1]["content"])


def test_a_call_that_exceeds_its_timeout_has_an_error_result(session: Session) -> None:
    stopped = threading.Event()

    def hang(call: Call) -> str:
        call.stop.wait(30)
        stopped.set()
        return "too late"

    provider = FakeProvider(FakeReply("", (tool_call("c1", "hang"),)), "I see.")
    run(Agent(provider, tools=[tool(hang)], limits=Limits(tool_seconds=0.05)), session, "go")
    (result,) = results(session)
    assert (result.error, result.text) == (True, "No answer within 0.05 seconds; given up.")
    assert stopped.wait(30)


def test_two_tools_with_one_name_get_different_names(session: Session) -> None:
    other = tool(lambda tree: f"{tree}: 5 feet", name="girth")
    provider = FakeProvider(FakeReply("", (tool_call("c1", "girth_2", {"tree": "elm"}),)), "done")
    run(Agent(provider, tools=[tool(girth), other]), session, "go")
    assert [one.text for one in results(session)] == ["elm: 5 feet"]


def test_a_tool_may_return_blocks_json_or_an_error(session: Session) -> None:
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
    run(Agent(FakeProvider(FakeReply("", calls), "done"), tools=tools), session, "go")
    blocks, as_json, error, none = results(session)
    assert blocks.content == (bough.Text("see"), picture)
    assert as_json.text == '{"m": 4.1}'
    assert error.error
    assert none.content == ()


def test_called_is_emitted_before_the_tool_runs(session: Session) -> None:
    told: list[str] = []

    def peek() -> str:
        return ",".join(told)

    def listen(event: Event) -> None:
        if isinstance(event, Called):
            told.append(event.call.call_id)

    run(
        Agent(FakeProvider(FakeReply("", (tool_call("c1", "peek"),)), "ok"), tools=[tool(peek)]),
        session,
        "go",
        listener=listen,
    )
    assert [one.text for one in results(session)] == ["c1"]


def test_an_interruption_adds_a_result_for_every_call_that_did_not_run(session: Session) -> None:
    def interrupt() -> str:
        return "done"

    def listen(event: Event) -> None:
        if isinstance(event, Answered):
            raise KeyboardInterrupt

    calls = tuple(tool_call(f"c{number}", "interrupt") for number in range(3))
    agent = Agent(FakeProvider(FakeReply("", calls)), tools=[tool(interrupt)], limits=Limits(parallel=1))
    with pytest.raises(KeyboardInterrupt):
        run(agent, session, "go", listener=listen)
    (info,) = session.turns()
    assert [one.text for one in results(session, info.id)] == ["done", *["Not done: the run was stopped first."] * 2]
