"""Sessions and turns load only the part of a path that a request needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import (
    FormatError,
    Node,
    Store,
    Usage,
    assistant,
    tool_call,
    tool_result,
    user,
)
from bough.context.fit import fit
from bough.db import Row
from bough.model.tokens import estimate
from tests.context.paths import exchange, wire_list


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
    assert asked == [20]
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


def test_a_count_after_a_compaction_is_compared_with_what_was_sent(store: Store) -> None:
    session = fill(store, 20)
    session.compact(lambda _: "They talked about trees.", keep_turns=4)
    session.save_turn(exchange(20))
    estimated = session.context("openai.chat", 100_000).tokens
    session.rewind()
    session.save_turn(exchange(20), usage=Usage(int(estimated * 1.4), 0))
    assert session.context("openai.chat", 100_000).tokens == pytest.approx(1.4 * estimated, rel=0.06)
    session.compact(lambda _: "They talked about trees.", keep_turns=5)
    assert session.context("openai.chat", 100_000).tokens == pytest.approx(1.4 * estimated, rel=0.06)


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
            turn.add(210)
    assert [node.message.text for node in session.path()] == ["How old is the oak?", "About 210 years."]


def test_ids_that_were_not_loaded_are_read_only_when_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    session = store.session("cli:long")
    for number in range(40):
        session.save_turn([user(f"question {number}"), assistant("word " * 400)])
    asked: list[str] = []
    rows = store.db.rows

    def counted(name: str, *params: Any) -> list[Row]:
        asked.append(name)
        return rows(name, *params)

    monkeypatch.setattr(store.db, "rows", counted)
    made = session.context("openai.chat", budget=4000)
    assert made.cut
    assert "path_ids" not in asked
    kept = len(made.payload)
    assert made.dropped == tuple(node.id for node in session.path()[:-kept])
    assert "path_ids" in asked
