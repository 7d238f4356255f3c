"""Sessions of the OpenAI Agents SDK: items as they were, branches that other processes see, delegates."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

import bough
from bough.adapters.openai_agents import BoughSession
from bough.db import StrPath

ITEMS: list[Any] = [
    {"role": "user", "content": "How is it?"},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"at":  "sea"}'},
    {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "calm"}]},
    {"type": "new_kind_of_item", "id": "n", "field": {"deep": [1, None]}},
    {"role": "tool", "content": "of no known role"},
    {"no": "type"},
    {"role": "assistant", "content": "Calm.\0\ud800"},
]


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def test_items_of_any_kind_come_back_equal_and_one_at_a_time(somewhere: StrPath) -> None:
    async def work() -> None:
        async with BoughSession("s", somewhere) as session:
            await session.add_items(ITEMS)
            assert await session.get_items() == ITEMS
            assert await session.get_items(2) == ITEMS[-2:]
            for at in range(len(ITEMS) - 1, -1, -1):
                assert await session.pop_item() == ITEMS[at]
            assert await session.pop_item() is None

    run(work())


def test_a_branch_begins_after_any_item_and_is_the_current_one_in_every_process(somewhere: StrPath) -> None:
    async def first() -> None:
        async with BoughSession("s", somewhere) as session:
            await session.add_items(ITEMS[:3])
            assert await session.create_branch(1, "other") == "other"
            await session.add_items([{"role": "assistant", "content": "On the branch."}])
            with pytest.raises(ValueError, match="other"):
                await session.create_branch(0, "other")
            with pytest.raises(ValueError, match="There are 2 items"):
                await session.create_branch(3)

    async def second() -> None:
        async with BoughSession("s", somewhere) as session:
            assert [item.get("content") for item in await session.get_items()] == ["How is it?", "On the branch."]
            found = [
                (one["branch_id"], one["message_count"], one["is_current"]) for one in await session.list_branches()
            ]
            assert found == [("main", 3, False), ("other", 2, True)]
            with pytest.raises(ValueError, match="current"):
                await session.delete_branch("other")
            await session.switch_to_branch("main")
            assert await session.get_items() == ITEMS[:3]
            await session.delete_branch("other")
            with pytest.raises(ValueError, match="no branch 'other'"):
                await session.switch_to_branch("other")

    run(first())
    run(second())


def test_a_delegate_works_in_a_session_of_its_own_and_its_costs_count() -> None:
    with bough.connect(":memory:") as store:
        session = BoughSession("s", store=store)
        run(session.add_items(ITEMS[:1]))
        run(session.delegate("reviewer").add_items(ITEMS[:1]))
        assert store.find_session("s:delegate:reviewer") is not None
        session.close()
        with pytest.raises(RuntimeError, match="closed"):
            run(session.get_items())
        assert store.size().sessions == 2


def test_items_that_a_program_changes_stay_as_they_are_in_the_store(somewhere: StrPath) -> None:
    given = [{"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "Calm."}]}]

    async def work() -> None:
        with bough.connect(somewhere) as store:
            session = BoughSession("s", store=store)
            await session.add_items(given)
            for _ in range(2):
                (item,) = await session.get_items()
                assert item == given[0]
                item["content"][0]["text"] = "changed"

    run(work())


def test_items_of_other_programs_and_processes_are_seen_after_those_that_are_remembered(somewhere: StrPath) -> None:
    async def work() -> None:
        async with BoughSession("s", somewhere) as session, BoughSession("s", somewhere) as other:
            await session.add_items(ITEMS)
            assert await session.get_items() == ITEMS
            await other.add_items(ITEMS[:1])
            assert await session.get_items() == [*ITEMS, ITEMS[0]]
            with bough.connect(somewhere) as store:
                store.session("s").save_turn([bough.user("How?"), bough.assistant("So.")])
            assert (await session.get_items())[-1] == {"role": "assistant", "content": "So."}
            await other.clear_session()
            assert await session.get_items() == []

    run(work())
