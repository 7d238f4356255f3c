"""The saving middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

import bough
from bough import Kept, Message, Recorder, Save, Store, aio, assistant, user


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "recorder.db") as opened:
        yield opened


def echo(dialog: list[Message]) -> Message:
    return assistant(f"you said: {dialog[-1].text}")


def test_a_call_saves_the_question_before_and_the_reply_after(store: Store) -> None:
    saved_before: list[int] = []

    def generate(dialog: list[Message]) -> Message:
        saved_before.append(len(list(store.list_messages())))
        return echo(dialog)

    dialog = Recorder(store, generate)([user("hello")])
    assert saved_before == [1]
    assert [node.message for node in store.path(dialog[-1].id)] == [user("hello"), assistant("you said: hello")]


def test_only_what_has_no_id_yet_is_saved(store: Store) -> None:
    recorder = Recorder(store, echo, label="subagent:echo:1")
    dialog: list[Kept | Message] = [*recorder([user("one")])]
    dialog = [*recorder([*dialog, user("two")])]
    assert len(list(store.list_messages())) == 4
    assert {node.label for node in store.list_messages()} == {"subagent:echo:1"}
    assert [item.id for item in dialog if isinstance(item, Kept)] == [node.id for node in store.path(dialog[-1].id)]  # type: ignore[union-attr]


def test_a_stored_path_is_continued(store: Store) -> None:
    ids = store.save_messages([first := Save(user("old")), Save(assistant("answer"), first)])
    dialog = Recorder(store, echo)([*store.path(ids[-1]), user("new")])
    assert [item.id for item in dialog][:2] == ids


def test_a_failing_call_keeps_the_question_and_can_be_tried_again(store: Store) -> None:
    def fails(dialog: list[Message]) -> Message:
        raise ConnectionError("provider down")

    recorder = Recorder(store, fails)
    dialog = recorder.save([user("hello")])
    with pytest.raises(ConnectionError):
        recorder(dialog)
    assert len(list(store.list_messages())) == 1
    assert len(Recorder(store, echo)(dialog)) == 2
    assert len(list(store.list_messages())) == 2


def test_a_reply_of_several_messages_is_saved_whole(store: Store) -> None:
    dialog = Recorder(store, lambda _: [assistant("one"), assistant("two")])([user("q")])
    assert [item.message.text for item in dialog] == ["q", "one", "two"]


def test_it_needs_nothing_but_a_saver() -> None:
    class Memory:
        def __init__(self) -> None:
            self.saves: list[Save] = []

        def save_messages(self, saves: Sequence[Save]) -> list[str]:
            self.saves += saves
            return [f"id{place}" for place in range(len(self.saves) - len(saves), len(self.saves))]

    memory = Memory()
    assert [item.id for item in Recorder(memory, echo)([user("q")])] == ["id0", "id1"]
    assert memory.saves[1].parent_id == "id0"


def test_the_awaitable_recorder_does_the_same(tmp_path: Path) -> None:
    async def generate(dialog: list[Message]) -> Message:
        return echo(dialog)

    async def run() -> list[str]:
        async with await aio.connect(tmp_path / "aio.db") as store:
            dialog = await aio.AsyncRecorder(store, generate)([user("hello")])
            return [node.message.text for node in await store.path(dialog[-1].id)]

    assert asyncio.run(run()) == ["hello", "you said: hello"]
