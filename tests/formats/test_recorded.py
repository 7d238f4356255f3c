"""Replies as providers have sent them, each reduced to what matters: they are stored, and the dialog goes on.

A file has the steps after the user's "hi": a reply or the events of a stream, results, further words. `losses` are the
codes of the next request; `sent` is its payload, `reply` the message or part that a stream adds up to, and `usage` the
counts, where a case is about them. The files follow the providers' documented shapes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Store, formats, tool_result, user
from bough.context.fit import Context
from bough.model import Json, Text, Usage
from bough.turn import Turn

WIRES = [name for name in formats.names() if name != "bough.jsonl"]
FILES = sorted(Path(__file__).with_name("recorded").glob("*.json"))
CASES = {file.stem: json.loads(file.read_text("utf-8")) for file in FILES}
MALFORMED = pytest.mark.filterwarnings("ignore:A part of this reply:bough.errors.FormatWarning")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "recorded.db") as opened:
        yield opened


def add(turn: Turn, wire: formats.types.Format, step: dict[str, Json]) -> None:
    match step:
        case {"reply": reply}:
            turn.add(reply)
        case {"stream": events}:
            turn.add(assembled(wire, events))
        case {"result": [call_id, text]}:
            turn.add(tool_result(call_id, text))
        case {"items": items}:
            turn.add(items)
        case {"user": text}:
            turn.add(user(text))


def assembled(wire: formats.types.Format, events: list[Json]) -> dict[str, Json]:
    stream = wire.accumulator()
    for event in events:
        stream.feed(event)
    return stream.reply()


def request_after(store: Store, case: dict[str, Json], target: str) -> tuple[Context, Turn]:
    with store.session("cli:x").turn("hi") as turn:
        for step in case["steps"]:
            add(turn, formats.get(case["format"]), step)
        made = turn.context(target)
        turn.add("done")
    return made, turn


@MALFORMED
@pytest.mark.parametrize("name", CASES)
def test_a_recorded_reply_is_followed_by_a_request_with_the_named_losses(store: Store, name: str) -> None:
    case = CASES[name]
    made, _ = request_after(store, case, case["format"])
    assert sorted({loss.code for loss in made.losses}) == sorted(case["losses"])
    assert formats.get(case["format"]).check(made.payload, "gemini-2.5-flash" if "2.5" in name else None) == []
    if "sent" in case:
        assert made.payload == case["sent"]


@MALFORMED
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("target", WIRES)
def test_a_recorded_reply_can_be_continued_anywhere_without_its_turn_becoming_text(
    store: Store, name: str, target: str
) -> None:
    made, _ = request_after(store, CASES[name], target)
    assert "turn_as_text" not in {loss.code for loss in made.losses}
    assert store.verify() == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "usage" in case])
def test_usage_is_found_wherever_a_server_puts_it(store: Store, name: str) -> None:
    _, turn = request_after(store, CASES[name], CASES[name]["format"])
    assert turn.info.usage == Usage(*CASES[name]["usage"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "reply" in case])
def test_a_stream_adds_up_to_what_a_call_without_streaming_returns(name: str) -> None:
    case = CASES[name]
    wire = formats.get(case["format"])
    reply = assembled(wire, case["steps"][0]["stream"])
    if case["format"] == "gemini":
        assert reply["candidates"][0]["content"]["parts"] == [case["reply"]]
    else:
        assert reply["choices"][0]["message"] == case["reply"]
        assert reply["choices"][0].get("finish_reason", "stop") == "stop"


def test_output_of_a_hosted_tool_reaches_every_provider(store: Store) -> None:
    for target in WIRES:
        made, _ = request_after(store, CASES["responses-hosted-shell"], target)
        assert '"a"' in json.dumps(made.payload), target
        assert made.losses == ()


def test_results_without_an_id_answer_the_calls_in_their_order(store: Store) -> None:
    made, _ = request_after(store, CASES["chat-call-without-id"], "openai.chat")
    calls, *results = made.payload[1:4]
    assert [call["id"] for call in calls["tool_calls"]] == [result["tool_call_id"] for result in results]
    assert [result["content"] for result in results] == ["1", "2"]
    assert len({call["id"] for call in calls["tool_calls"]}) == 2


def test_reasoning_in_a_part_is_reasoning(store: Store) -> None:
    with store.session("cli:y").turn("hi") as turn:
        turn.add(CASES["chat-mistral-thinking"]["steps"][0]["reply"])
    thinking, text = store.session("cli:y").path()[-1].message.blocks
    assert (thinking.tag, text) == ("thinking", Text("a", raw=text.raw))
