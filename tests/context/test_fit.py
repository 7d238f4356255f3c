"""Requests fit the budget, are valid, and keep the prefix stable."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bough import (
    FormatError,
    Invalid,
    Message,
    Text,
    Thinking,
    assistant,
    formats,
    tool_call,
    tool_result,
    user,
)
from bough.context.fit import ELIDED, fit
from bough.model.tokens import estimate
from bough.model.values import replace
from tests.context.paths import WIRES, exchange, histories, nodes_of, wire_list


def check_any_history(turns: list[list[Message]], name: str, budget: int | None, summary: bool) -> None:
    path = nodes_of(turns)
    if summary and len(path) > 2:
        path.append(replace(path[-1], id="summary", parent_id=path[-1].id, message=user("So far: trees."),
                            kind="summary", covers=path[len(turns[0]) - 1].id, turn_id=None,
                            weight=path[-1].weight + estimate(user("So far: trees."))))  # fmt: skip
    made = fit(path, name, budget)
    assert formats.get(name).check(made.payload) == []
    assert made.payload == fit(path, name, budget).payload
    kept = {node.id for node in path if node.kind == "message"} - set(made.dropped)
    newest = [node for node in path if node.kind == "message"][-1]
    if budget is None:
        assert made.fits
    if newest.role in ("user", "assistant") and not newest.message.calls:
        assert newest.id in kept


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories, st.sampled_from(WIRES), st.one_of(st.none(), st.integers(1, 400)), st.booleans())
def test_any_history_becomes_a_request_that_the_provider_accepts(
    turns: list[list[Message]], name: str, budget: int | None, summary: bool
) -> None:
    check_any_history(turns, name, budget, summary)


@pytest.mark.soak
@settings(max_examples=20_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories, st.sampled_from(WIRES), st.one_of(st.none(), st.integers(1, 400)), st.booleans())
def test_twenty_thousand_histories(turns: list[list[Message]], name: str, budget: int | None, summary: bool) -> None:
    check_any_history(turns, name, budget, summary)


@pytest.mark.parametrize("name", WIRES)
def test_the_newest_turns_are_kept_whole_and_the_newest_one_always(name: str) -> None:
    path = nodes_of([exchange(number) for number in range(20)])
    per_turn = path[1].weight
    made = fit(path, name, per_turn * 5)
    assert made.fits
    text = json.dumps(made.payload)
    kept = [number for number in range(20) if f"question {number} " in text]
    assert kept == list(range(20 - len(kept), 20))
    assert 2 <= len(kept) <= 5
    assert all(f"answer {number} " in text for number in kept)
    assert set(made.dropped) == {node.id for node in path if int(node.id.split(".")[0]) not in kept}
    tiny = fit(path, name, 5)
    assert not tiny.fits
    assert "question 19 " in json.dumps(tiny.payload)


@pytest.mark.parametrize("name", WIRES)
@pytest.mark.parametrize("budget", [None, 700])
def test_a_path_longer_by_whole_turns_begins_with_the_shorter_ones_bytes_until_a_cut(
    name: str, budget: int | None
) -> None:
    turns = [
        [user(f"q{n} " + "x " * 40), Message("assistant", (Thinking("hm"), Text("a"), tool_call("c", "f"))),
         tool_result("c", "r " * 30), assistant(f"a{n}")]
        for n in range(30)
    ]  # fmt: skip
    cuts = 0
    before: list[Any] | None = None
    first = 0
    for count in range(1, 31):
        made = fit(nodes_of(turns[:count]), name, budget)
        wire = wire_list(made.payload)
        if before is not None and len(made.dropped) == first:
            # The last wire message of Q Developer is the current one, and moves into the history.
            stable = before if name != "qdeveloper" else before[:-1]
            assert wire[: len(stable)] == stable
        elif before is not None:
            cuts += 1
            assert made.tokens < 0.75 * (budget or 0)
        before, first = wire, len(made.dropped)
    assert cuts == (0 if budget is None else cuts)
    assert budget is None or 1 <= cuts <= 12


@pytest.mark.parametrize("name", WIRES)
def test_in_a_turn_that_is_too_big_old_output_goes_before_calls(name: str) -> None:
    turn = [user("look at everything")]
    for number in range(10):
        turn += [
            assistant(tool_call(f"c{number}", "read")),
            tool_result(f"c{number}", f"contents {number} " + "z " * 500),
        ]
    turn.append(assistant("all read"))
    path = nodes_of([exchange(0), turn])
    made = fit(path, name, path[-1].weight // 3)
    text = json.dumps(made.payload)
    assert made.fits
    assert made.elided
    assert ELIDED in text
    assert "look at everything" in text
    assert "all read" in text
    assert set(made.dropped) == {"0.0", "0.1"}
    smaller = fit(path, name, 120)
    assert len(smaller.dropped) > 2
    assert "look at everything" in json.dumps(smaller.payload)


def test_reasoning_from_before_a_cut_is_not_sent_and_the_newest_is() -> None:
    thought = {"anthropic": {"type": "thinking", "thinking": "hm", "signature": "c2ln"}}
    turns = [
        [user(f"q{n} " + "x " * 50), Message("assistant", (Thinking("hm", raw=thought), Text(f"a{n}")))]
        for n in range(20)
    ]
    whole = fit(nodes_of(turns), "anthropic")
    assert json.dumps(whole.payload).count('"thinking"') == 2 * 20
    fitted = fit(nodes_of(turns), "anthropic", 300)
    kept = [message for message in fitted.payload if message["role"] == "assistant"]
    assert kept[-1]["content"][0]["type"] == "thinking"
    assert json.dumps(fitted.payload).count('"thinking"') < 2 * len(kept)


def test_a_summary_stands_for_what_it_covers() -> None:
    path = nodes_of([exchange(number) for number in range(4)])
    summary = replace(path[-1], id="s", message=user("They talked."), kind="summary", covers="1.1",
                      weight=path[-1].weight + estimate(user("They talked.")))  # fmt: skip
    made = fit([*path, summary], "openai.chat")
    assert made.payload[0] == {"role": "user", "content": "They talked."}
    assert [message["content"][:10] for message in made.payload[1:]] == [
        "question 2",
        "answer 2 y",
        "question 3",
        "answer 3 y",
    ]


def test_a_counter_of_ones_own_is_used() -> None:
    path = nodes_of([exchange(number) for number in range(10)])
    made = fit(path, "openai.chat", 6, counter=lambda _: 1)
    assert made.fits
    assert made.tokens <= 6
    with pytest.raises(Invalid):
        fit(path, "openai.chat", 0)
    with pytest.raises(FormatError, match="nosuch"):
        fit(path, "nosuch")
