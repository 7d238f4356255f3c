"""Trajectories that benchmarks and trainers read."""

from __future__ import annotations

import json
from typing import Any

import pytest

import bough
from bough import NotFound, Store, assistant, tool_call, tool_result, user
from bough.exporters import get, names
from bough.exporters.collect import collect


def trajectory(store: Store, name: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads("".join(get("atif").write(collect(store, name))))
    return made


def test_steps_are_numbered_and_results_stand_in_the_step_that_called(garden: Store) -> None:
    made = trajectory(garden, "cli:garden")
    assert made["schema_version"] == "ATIF-v1.7"
    assert made["session_id"] == "cli:garden"
    assert [step["step_id"] for step in made["steps"]] == [1, 2, 3, 4, 5]
    assert [step["source"] for step in made["steps"]] == ["user", "agent", "agent", "user", "agent"]
    called = made["steps"][1]
    assert called["reasoning_content"] == "Girth tells age."
    assert called["tool_calls"] == [{"tool_call_id": "c1", "function_name": "measure", "arguments": {"tree": "oak"}}]
    assert called["observation"] == {"results": [{"source_call_id": "c1", "content": "girth: 4.1 m"}]}


def test_tokens_and_cost_stand_on_the_last_step_of_a_turn_and_unknown_ones_are_left_out(garden: Store) -> None:
    made = trajectory(garden, "cli:garden")
    metrics = {"prompt_tokens": 1200, "completion_tokens": 34, "cost_usd": 0.0042}
    assert [step.get("metrics") for step in made["steps"]] == [None, None, metrics, None, None]
    assert made["final_metrics"] == {
        "total_prompt_tokens": 1200, "total_completion_tokens": 34, "total_cost_usd": 0.0042, "total_steps": 5
    }  # fmt: skip


def test_only_the_agent_has_the_agents_fields(garden: Store) -> None:
    own = {"model_name", "reasoning_content", "tool_calls", "metrics", "observation"}
    for step in trajectory(garden, "cli:garden")["steps"]:
        assert step["source"] == "agent" or not own & set(step)


def test_a_result_that_nobody_called_for_is_a_step_of_its_own(store: Store) -> None:
    store.session("s").save_turn([
        user("go"), assistant(tool_call("a", "look", "not json")), tool_result("b", "stray"), assistant("done")
    ])  # fmt: skip
    made = trajectory(store, "s")["steps"]
    assert [(step["source"], step["message"]) for step in made] == [
        ("user", "go"), ("agent", ""), ("system", "stray"), ("agent", "done")
    ]  # fmt: skip
    assert made[1]["tool_calls"][0]["arguments"] == {"input": "not json"}


def test_an_unknown_name_and_an_empty_session_are_different_errors(store: Store) -> None:
    store.session("cli:empty")
    with pytest.raises(NotFound, match="is empty"):
        collect(store, "cli:empty")
    with pytest.raises(NotFound, match="zzzz"):
        collect(store, "zzzz")
    with pytest.raises(bough.Invalid, match="md, html, atif"):
        get("docx")
    assert names() == ("md", "html", "atif")
