"""What is particular to the awaitable verbs; everything else is in the contract."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import apsw
import pytest

import bough
from bough import Session, Store, Turn, aio, assistant, user


def test_every_verb_is_there() -> None:
    for sync, facade in ((Store, aio.AsyncStore), (Session, aio.AsyncSession), (Turn, aio.AsyncTurn)):
        inside = {"write", "prepare", "load", "load_path", "end_with", "last"}
        verbs = {name for name, member in vars(sync).items() if not name.startswith("_") and callable(member)} - inside
        assert verbs <= set(dir(facade)), f"{facade.__name__} lacks {verbs - set(dir(facade))}"


def test_a_cancelled_turn_is_interrupted_and_frees_the_session(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")

            async def work() -> None:
                async with session.turn("question") as turn:
                    await turn.add(assistant("half"))
                    await asyncio.sleep(60)

            task = asyncio.create_task(work())
            while not any(info.status == "running" for info in await session.turns()):
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [info.status for info in await session.turns()] == ["interrupted"]
            async with session.turn("again", wait=0) as turn:
                await turn.add(assistant("whole"))
            assert [node.message.text for node in await session.path()] == ["again", "whole"]

    asyncio.run(run())


def test_cancelling_at_any_moment_leaves_whole_turns_and_a_free_session(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")

            async def work(number: int) -> None:
                async with session.turn(f"q{number}") as turn:
                    await turn.add(assistant(f"a{number}"))

            for number in range(60):
                task = asyncio.create_task(work(number))
                for _ in range(number % 20):
                    await asyncio.sleep(0)
                await asyncio.sleep((number % 7) * 0.0005)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
            await session.save_turn([user("end"), assistant("END")], wait=5)
            texts = [node.message.text for node in await session.path()]
            assert texts[-2:] == ["end", "END"]
            pairs = list(zip(texts[::2], texts[1::2], strict=True))[:-1]
            assert all(question[1:] == answer[1:] for question, answer in pairs)
            assert "running" not in {info.status for info in await store.turns()}
            assert await store.verify() == []

    asyncio.run(run())


def test_many_sessions_and_one_session_at_once(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:

            async def talk(key: str, number: int) -> None:
                session = await store.session(key)
                async with session.turn(f"q{number}", wait=30) as turn:
                    await asyncio.sleep(0.001)
                    await turn.add(assistant(f"a{number}"))

            await asyncio.gather(*(talk(f"cli:{number}", number) for number in range(30)))
            await asyncio.gather(*(talk("cli:shared", number) for number in range(30)))
            texts = [node.message.text for node in await (await store.session("cli:shared")).path()]
            assert sorted(texts[::2]) == sorted(f"q{number}" for number in range(30))
            assert all(question[1:] == answer[1:] for question, answer in zip(texts[::2], texts[1::2], strict=True))

    asyncio.run(run())


def test_the_loop_is_not_blocked_while_a_session_is_busy(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")
            async with session.turn("first") as first:
                waiting = [asyncio.create_task(session.save_turn([assistant(str(n))], wait=20)) for n in range(20)]
                await asyncio.sleep(0.05)
                await first.add(assistant("done"))
            await asyncio.gather(*waiting)
            assert len(await session.path()) == 22

    asyncio.run(run())


def test_errors_are_the_same(tmp_path: Path) -> None:
    async def run() -> None:
        with pytest.raises(bough.NotFound, match="does not exist"):
            await aio.connect(tmp_path / "no" / "such.db")
        async with await aio.connect(tmp_path / "a.db") as store:
            with pytest.raises(bough.NotFound):
                await store.path("nosuch")
        with pytest.raises((bough.Refused, RuntimeError)):
            await store.path("nosuch")

    asyncio.run(run())


def test_documentation_is_taken_over() -> None:
    assert aio.AsyncStore.path.__doc__ == Store.path.__doc__
    assert inspect.iscoroutinefunction(aio.AsyncStore.path)


def test_messages_are_read_in_the_thread_and_not_when_the_event_loop_looks(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            (id_,) = await store.save_messages([bough.Save(user("big " * 5000))])
            hand = apsw.Connection(str(tmp_path / "a.db"))
            hand.execute("UPDATE blob_bytes SET bytes = x'28b52ffd00'")
            hand.close()
            with pytest.raises(bough.Corrupt, match=id_):
                await store.get_messages([id_])

    asyncio.run(run())
