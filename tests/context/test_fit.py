"""From a path to a request: valid, fitted, stable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bough
from bough import (
    FormatError,
    Invalid,
    Message,
    Node,
    Store,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    formats,
    tool_call,
    tool_result,
    user,
)
from bough.context.fit import ELIDED, fit
from bough.context.repair import CANCELLED, Step, repair
from bough.model.tokens import estimate
from bough.model.values import replace
from tests.formats.format_dialogs import said
from tests.formats.format_dialogs import texts as some_texts

WIRES = [name for name in formats.names() if name != "bough.jsonl"]


def nodes_of(turns: list[list[Message]]) -> list[Node]:
    """A path of these turns, as a store would give it."""
    path: list[Node] = []
    weight = 0
    for number, turn in enumerate(turns):
        for place, message in enumerate(turn):
            weight += estimate(message)
            parent = path[-1].id if path else None
            path.append(Node(f"{number}.{place}", parent, len(path), message, turn_id=f"{number}.0", weight=weight))
    return path


def exchange(number: int, size: int = 100) -> list[Message]:
    return [user(f"question {number} " + "x " * size), assistant(f"answer {number} " + "y " * size)]


def wire_list(payload: Any) -> list[Any]:
    """The payload as a list, oldest first; Q Developer's has the current message apart."""
    if isinstance(payload, dict):
        return [*payload.get("history", []), payload.get("currentMessage")]
    return list(payload)


# Mending -------------------------------------------------------------------------------------------------------------

ids = st.sampled_from(["c1", "c2", "c3", "c4"])
results = st.builds(ToolResult, ids, st.just((Text("result"),)), st.booleans())
broken_messages = st.one_of(
    st.builds(lambda blocks: Message("user", tuple(blocks)), st.lists(some_texts, max_size=2)),
    st.builds(lambda blocks: Message("assistant", tuple(blocks)),
              st.lists(st.one_of(said, st.builds(ToolCall, ids, st.just("look"), st.just("{}"))), max_size=4)),
    st.builds(lambda blocks: Message("tool_result", tuple(blocks)), st.lists(results, max_size=3)),
    st.just(Message("system", (Text("a note"),))),
)  # fmt: skip
histories = st.lists(st.lists(broken_messages, min_size=1, max_size=6), min_size=1, max_size=6)


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


def mended(*messages: Message) -> list[Message]:
    return [step.message for step in repair([Step(str(place), message) for place, message in enumerate(messages)])]


def test_what_is_whole_is_not_touched() -> None:
    dialog = [
        user("q"),
        assistant(tool_call("a", "f"), tool_call("b", "g")),
        tool_result("b", "2"),
        tool_result("a", "1"),
    ]
    assert mended(*dialog) == dialog


def test_a_missing_result_is_said_to_be_missing() -> None:
    dialog = mended(user("q"), assistant(tool_call("a", "f"), tool_call("b", "g")), tool_result("a", "1"), user("next"))
    answers = dialog[2].results
    assert [(answer.call_id, answer.error) for answer in answers] == [("a", False), ("b", True)]
    assert answers[1].text == CANCELLED


@pytest.mark.parametrize("name", WIRES)
def test_a_tool_result_message_without_results_does_not_separate_a_call_from_its_result(name: str) -> None:
    call, empty, answer = assistant(tool_call("a", "f")), Message("tool_result", ()), tool_result("a", "1")
    assert mended(user("q"), call, empty, answer) == [user("q"), call, answer]
    for following in ([empty, answer], [answer, empty], [empty], [empty, user("next"), answer]):
        made = fit(nodes_of([[user("q"), call, *following]]), name)
        assert formats.get(name).check(made.payload) == []


def test_orphans_duplicates_and_late_results_are_put_right() -> None:
    dialog = mended(
        user("q"), tool_result("zzz", "nobody asked"), assistant(tool_call("a", "f")), user("hurry"),
        tool_result("a", "first"), tool_result("a", "second"), assistant("done"),
    )  # fmt: skip
    assert [message.role for message in dialog] == ["user", "assistant", "tool_result", "user", "assistant"]
    assert [answer.text for answer in dialog[2].results] == ["first"]


# Fitting -------------------------------------------------------------------------------------------------------------


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


# From the store ------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "context.db") as opened:
        yield opened


def fill(store: Store, turns: int) -> bough.Session:
    session = store.session("s")
    for number in range(turns):
        session.save_turn(exchange(number))
    return session


@pytest.mark.parametrize("budget", [None, 50, 400, 1000, 5000, 100_000])
def test_the_store_gives_what_the_whole_path_would(store: Store, budget: int | None) -> None:
    session = fill(store, 30)
    for _ in range(2):
        loaded = session.context("anthropic", budget, reserve=0)
        whole = fit(session.path(), "anthropic", budget)
        assert (loaded.payload, loaded.fits, loaded.tokens) == (whole.payload, whole.fits, whole.tokens)
        session.compact(lambda nodes: f"A summary of {len(nodes)} messages.", keep_turns=7)
        session.save_turn(exchange(99))


def test_a_long_session_is_not_loaded_whole(store: Store) -> None:
    session = fill(store, 200)
    loaded: list[int] = []
    load = store.load
    store.load = lambda rows: loaded.append(len(rows)) or load(rows)  # type: ignore[method-assign,func-returns-value]
    session.context("openai.responses", 1_000)
    assert sum(loaded) < 40


def test_a_session_is_compacted_when_that_is_asked_for_and_needed(store: Store) -> None:
    session = fill(store, 12)
    asked: list[int] = []

    def summarize(nodes: list[Node]) -> str:
        asked.append(len(nodes))
        return "They talked about trees."

    assert not session.context("openai.chat", 100_000, summarize=summarize).cut
    assert asked == []
    assert session.context("openai.chat", 800).cut
    made = session.context("openai.chat", 800, summarize=summarize)
    assert asked == [14]
    assert made.payload[0]["content"] == "They talked about trees."
    assert "question 11 " in json.dumps(made.payload)
    assert len(session.path()) == 25


def test_a_turn_sees_what_it_has_added(store: Store) -> None:
    session = fill(store, 2)
    with session.turn("and now?") as turn:
        assert wire_list(turn.context("openai.chat").payload)[-1] == {"role": "user", "content": "and now?"}
        turn.add(assistant("one", tool_call("c", "f")))
        turn.add(tool_result("c", "r"))
        assert [message["role"] for message in turn.context("openai.chat").payload[-3:]] == [
            "user",
            "assistant",
            "tool",
        ]
        turn.add(assistant("done"))
    assert len(session.context("openai.chat").payload) == 8


def test_an_empty_session_has_an_empty_context(store: Store) -> None:
    made = store.session("empty").context("anthropic", 100)
    assert (made.payload, made.tokens, made.fits) == ([], 0, True)


def test_the_providers_own_counts_correct_the_estimate(store: Store) -> None:
    session = store.session("s")
    message = exchange(1)
    weight = sum(map(estimate, message))
    session.save_turn(message, usage=Usage(input_tokens=weight, output_tokens=weight // 2))
    assert session.context("openai.chat", 10_000).tokens == weight + weight // 2
    session.save_turn(exchange(1))
    assert session.context("openai.chat", 10_000).tokens == pytest.approx(3 * weight, rel=0.06)
    session.rewind()
    session.save_turn(exchange(2), usage=Usage(input_tokens=weight * 100, output_tokens=1))
    assert session.context("openai.chat", 10_000).tokens == pytest.approx(2 * weight, rel=0.06)


def test_what_a_tool_answers_after_the_last_count_is_counted_too(store: Store) -> None:
    with store.session("s").turn("how thick? " * 100) as turn:
        asked = sum(estimate(node.message) for node in turn.path())
        turn.add(assistant("I look.", tool_call("c1", "girth")), usage=Usage(asked, 20))
        turn.add(tool_result("c1", "word " * 200))
        answered = estimate(turn.path()[-1].message)
        assert turn.context("openai.chat", 10_000).tokens == pytest.approx(asked + 20 + answered, rel=0.06)
        turn.add(assistant("Thick."), usage=Usage(asked + 400, 10))
    assert store.session("s").context("openai.chat", 10_000).tokens == asked + 410


def test_the_window_of_a_known_model_is_the_budget(store: Store) -> None:
    session = fill(store, 3)
    assert session.context("openai.chat", model="gpt-4o").fits
    assert session.context("openai.chat", model="a model that nobody knows").fits


def test_a_providers_reply_is_added_whole(store: Store) -> None:
    reply = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "About 210 years.", "citations": None, "brand_new": {"z": 1, "a": 2}}],
        "usage": {"input_tokens": 12, "output_tokens": 6}, "container": None,
    }  # fmt: skip
    session = store.session("s")
    with session.turn("How old is the oak?") as turn:
        turn.add(reply)
    assert turn.info.model == "claude-x"
    assert turn.info.usage.output_tokens == 6
    assert session.context("anthropic").payload[-1]["content"] == reply["content"]
    with pytest.raises(FormatError, match="nothing was added"):
        with session.turn("again") as turn:
            turn.add({"unheard": "of"})
    assert [node.message.text for node in session.path()] == ["How old is the oak?", "About 210 years."]
