"""Checkpoints of LangGraph: lists of messages are paths of the tree, which a saver remembers."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

import bough
from bough.adapters.langgraph import BoughSaver
from bough.db import StrPath

CONFIG: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


class Counting(JsonPlusSerializer):
    """Counts what it reads."""

    def __init__(self) -> None:
        super().__init__()
        self.read = 0

    def loads_typed(self, data: Any) -> Any:
        self.read += 1
        return super().loads_typed(data)


def put(saver: Any, messages: list[BaseMessage], config: Any = CONFIG) -> Any:
    checkpoint = {**empty_checkpoint(), "channel_values": {"messages": messages}}
    return saver.put(config, checkpoint, {"source": "loop", "step": 1, "parents": {}}, {})


def messages(saver: Any, config: Any = CONFIG) -> list[BaseMessage]:
    found: list[BaseMessage] = saver.get_tuple(config).checkpoint["channel_values"]["messages"]
    return found


def dialog(count: int) -> list[BaseMessage]:
    """Questions and answers, with fields of every depth."""
    found: list[BaseMessage] = []
    for number in range(count):
        about = {"model_name": "m", "usage": {"counts": [number]}}
        calls = [{"name": "look", "args": {"at": ["sea"]}, "id": str(number), "type": "tool_call"}]
        answer: Any = AIMessage(f"a{number}", id=f"a{number}", response_metadata=about, tool_calls=calls)
        found += [HumanMessage(f"q{number}", id=f"q{number}"), answer]
    return found


def test_a_message_that_a_graph_changes_is_changed_in_that_checkpoint_only(somewhere: StrPath) -> None:
    with BoughSaver.from_conn_string(somewhere) as saver:
        given = dialog(3)
        first = put(saver, given)
        given[1].response_metadata["usage"]["counts"].append("changed")
        given[3].content = "changed"
        loaded = messages(saver)
        assert loaded == dialog(3)
        loaded[1].response_metadata["usage"]["counts"].append("lost")
        second = put(saver, given, first)
        assert messages(saver, first) == dialog(3)
        assert messages(saver, second) == given
    with BoughSaver.from_conn_string(somewhere) as other:
        assert messages(other, first) == dialog(3)
        assert messages(other, second) == given


def test_a_saver_sees_what_another_one_has_added_deleted_and_made_again(somewhere: StrPath) -> None:
    with BoughSaver.from_conn_string(somewhere) as saver, BoughSaver.from_conn_string(somewhere) as other:
        put(saver, dialog(40))
        assert messages(other) == messages(saver) == dialog(40)
        put(other, dialog(41))
        assert messages(saver) == dialog(41)
        other.delete_thread("t")
        assert saver.get_tuple(CONFIG) is None
        put(other, dialog(2))
        assert messages(saver) == dialog(2)
        put(saver, dialog(3))
        assert messages(other) == dialog(3)


def test_a_saver_with_another_serializer_reads_the_messages_with_it(somewhere: StrPath) -> None:
    with bough.connect(somewhere) as store:
        saver = BoughSaver(store)
        put(saver, dialog(2))
        saver.serde = serde = Counting()
        assert messages(saver) == dialog(2)
        assert serde.read >= 4


def test_messages_that_are_remembered_are_not_read_again(somewhere: StrPath) -> None:
    serde = Counting()
    with bough.connect(somewhere) as store:
        saver = BoughSaver(store, serde=serde)
        for count in (1, 2, 3):
            put(saver, dialog(count))
            assert messages(saver) == dialog(count)
        assert serde.read == 3  # the rest of each checkpoint
