"""A store into another: SQLite to PostgreSQL and back, broken off, begun again, while the source goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Media, NotFound, Refused, Store, Usage, aio, assistant, tool_call, tool_result, user
from tests.reliability.processes import multiprocess

LONG = "What a bough is, told at length. " * 2_000


@pytest.fixture(params=["sqlite to sqlite", "sqlite to postgres", "postgres to sqlite", "postgres to postgres"])
def connect(request: pytest.FixtureRequest, tmp_path: Path, namespace: str) -> Callable[[str], Store]:
    """Opens the source or the target, as often as it is called."""
    source, _, target = request.param.partition(" to ")
    engines = {"source": source, "target": target}

    def opened(name: str) -> Store:
        if engines[name] == "postgres":
            return bough.connect(request.getfixturevalue("postgres"), namespace=f"{namespace}-{name}")
        return bough.connect(tmp_path / f"{name}.db")

    return opened


@pytest.fixture
def stores(connect: Callable[[str], Store]) -> Iterator[tuple[Store, Store]]:
    with connect("source") as source, connect("target") as target:
        yield source, target


def fill(store: Store) -> None:
    """A history with everything in it."""
    session = store.session("cli:oak", title="The oak", directory="/woods")
    with session.turn(
        user("How old?\0\ud800", Media("image", "image/png", data=b"\x89PNG" * 3_000)), model="m"
    ) as turn:
        turn.add(assistant("I look.", tool_call("c", "look", {"at": "oak"})))
        turn.add(tool_result("c", LONG))
        turn.add(assistant("Old."), usage=Usage(input_tokens=7, output_tokens=3, cost=0.5))
    session.fork(at=session.path()[1].id, key="cli:fork").save_turn([user("Again?"), assistant(LONG)])
    store.label(session.path()[0].id, "trees")
    session.delegate("surveyor", "run1").save_turn([user("Survey"), assistant("Done")])
    gone = store.session("cli:gone")
    gone.save_turn([user(LONG), assistant("to be deleted")])
    store.delete_session("cli:gone")
    broken = store.session("cli:broken").turn("half a turn")
    broken.interrupt()
    for _ in range(5):
        session.save_turn([user("More?"), assistant("More.")])
    session.compact(lambda nodes: f"{len(nodes)} messages about an oak", keep_turns=2)
    store.name_externally("resp", "resp_1", message=session.head)


def told(store: Store) -> dict[str, Any]:
    """Everything that can be seen of a store."""
    return {
        "messages": list(store.list_messages(ascending=True)),
        "sessions": store.sessions(),
        "turns": store.turns(),
        "trash": store.trash(),
        "paths": {info.key: store.session(info.key).path() for info in store.sessions()},
        "found": {hit.node.id for hit in store.search("oak", limit=100)},
        "named": store.find_external("resp", "resp_1"),
        "usage": store.usage(by="model"),
    }


def test_a_copy_has_everything_under_the_same_names(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    copied = source.copy_to(target)
    assert told(target) == told(source)
    assert (copied.messages, copied.removed) == (len(list(source.list_messages())), 0)
    assert target.verify() == []
    target.restore("cli:gone")
    assert target.session("cli:gone").path()[0].message.text == LONG
    target.session("cli:oak").save_turn([user("The copy goes on"), assistant("on its own")])
    assert target.verify() == []


def test_copying_again_copies_nothing(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    source.copy_to(target)
    again = source.copy_to(target)
    assert (again.messages, again.bytes, again.sessions, again.turns, again.removed) == (0, 0, 0, 0, 0)


def test_a_second_run_brings_what_has_changed_since(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    source.copy_to(target)
    target.search("oak")
    source.session("cli:oak").save_turn([user("Newer"), assistant("oak, newer")])
    source.label(source.session("cli:oak").path()[0].id, "other")
    source.session("cli:fork").rewind()
    source.delete_session("cli:broken")
    source.restore("cli:gone")
    source.copy_to(target)
    assert told(target) == told(source)
    assert target.verify() == []


def test_what_was_deleted_for_good_in_the_source_is_in_the_trash_of_the_target(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    source.copy_to(target)
    source.delete_session("cli:fork", keep=False)
    copied = source.copy_to(target)
    assert copied.removed == 2
    assert list(target.list_messages()) == list(source.list_messages())
    assert target.sessions() == source.sessions()
    assert target.verify() == []


def test_a_copy_that_was_broken_off_goes_on(stores: tuple[Store, Store], monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = stores
    fill(source)
    monkeypatch.setattr("bough.storage.copy.PAGE", 4)

    def stop(done: int, total: int) -> None:
        assert done <= total
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        source.copy_to(target, stop)
    assert 0 < len(list(target.list_messages())) < len(list(source.list_messages()))
    assert target.verify() == []
    source.copy_to(target)
    assert told(target) == told(source)


def test_a_copy_whose_process_was_killed_goes_on(
    connect: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    with connect("source") as source:
        fill(source)
    monkeypatch.setattr("bough.storage.copy.PAGE", 4)

    def copy_and_die() -> None:
        with connect("source") as source, connect("target") as target:
            source.copy_to(target, lambda done, _: os.kill(os.getpid(), signal.SIGKILL) if done > 4 else None)

    connect("target").close()
    process = multiprocess.Process(target=copy_and_die)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    with connect("source") as source, connect("target") as target:
        assert 4 < len(list(target.list_messages())) < len(list(source.list_messages()))
        source.copy_to(target)
        assert told(target) == told(source)
        assert target.verify() == []


def test_the_source_may_be_written_to_while_it_is_copied(
    stores: tuple[Store, Store], connect: Callable[[str], Store], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = stores
    fill(source)
    monkeypatch.setattr("bough.storage.copy.PAGE", 4)
    late: list[str] = []
    with connect("source") as writer:

        def write(done: int, _: int) -> None:
            late.extend(writer.session(f"cli:late-{done}").save_turn([user("late"), assistant("oak")]))

        source.copy_to(target, write)
    with pytest.raises(NotFound):
        target.get_messages(late[:1])
    source.copy_to(target)
    assert told(target) == told(source)


def test_a_target_with_a_history_of_its_own_is_left_alone(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    target.session("cli:own").save_turn([user("mine"), assistant("own")])
    before = told(target)
    with pytest.raises(Refused, match="history of its own"):
        source.copy_to(target)
    assert told(target) == before


def test_a_copy_that_was_written_to_is_left_alone(stores: tuple[Store, Store]) -> None:
    source, target = stores
    fill(source)
    source.copy_to(target)
    target.session("cli:oak").save_turn([user("mine"), assistant("own")])
    before = told(target)
    with pytest.raises(Refused, match="history of its own"):
        source.copy_to(target)
    assert told(target) == before


def test_numbers_of_sessions_that_are_gone_are_not_given_out_again(stores: tuple[Store, Store]) -> None:
    source, target = stores
    source.session("cli:a").save_turn([user("kept"), assistant("by the fork")])
    source.fork(source.session("cli:a").head or "", key="cli:b")
    source.session("cli:last").save_turn([user("x"), assistant("y")])
    source.delete_session("cli:last", keep=False)
    source.copy_to(target)
    assert target.session("cli:new").turns() == []


def test_copies_can_be_awaited(tmp_path: Path) -> None:
    async def work() -> int:
        async with await aio.connect(tmp_path / "a.db") as source, await aio.connect(tmp_path / "b.db") as target:
            await (await source.session("s")).save_turn([user("one"), assistant("two")])
            return (await source.copy_to(target)).messages

    assert asyncio.run(work()) == 2


def test_the_newest_of_several_entries_of_the_trash_is_restored_from_the_copy_too(
    stores: tuple[Store, Store],
) -> None:
    source, target = stores
    for number in range(8):
        source.session("cli:again").save_turn([user(f"Version {number}"), assistant("yes")])
        source.delete_session("cli:again")
        if number == 3:
            source.copy_to(target)
    source.copy_to(target)
    target.restore("cli:again")
    assert target.session("cli:again").path()[0].message.text == "Version 7"
