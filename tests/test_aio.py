"""What is particular to the awaitable verbs; everything else is in the contract."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

import bough
from bough import Answers, Session, Store, Turn, aio, assistant, user

PAIRS = (
    (Store, aio.AsyncStore),
    (Session, aio.AsyncSession),
    (Turn, aio.AsyncTurn),
    (Answers, aio.AsyncAnswers),
)


def test_every_verb_is_there() -> None:
    for sync, facade in PAIRS:
        inside = {"write", "prepare", "load", "load_path", "follower", "end_with"}
        names = {name for name in vars(sync) if not name.startswith("_")} - inside
        assert names <= set(dir(facade)), f"{facade.__name__} lacks {names - set(dir(facade))}"


def test_what_is_a_property_or_a_method_is_the_same_in_both() -> None:
    for sync, facade in PAIRS:
        for name, member in vars(sync).items():
            other = getattr(facade, name, None)
            if not name.startswith("_") and other is not None:
                assert isinstance(member, property) == isinstance(other, property), f"{facade.__name__}.{name}"
                if inspect.isfunction(member):
                    ours, theirs = inspect.signature(other), inspect.signature(member)
                    assert list(ours.parameters) == list(theirs.parameters), f"{facade.__name__}.{name}"


def test_properties_that_read_the_store_are_awaited(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")
            assert await session.head is None
            async with session.turn("question") as turn:
                (reply,) = await turn.add(assistant("answer"))
                assert await turn.last == reply
                assert (await turn.info).status == "running"
            assert await session.head == (await session.info).head_id == reply

    asyncio.run(run())


PROGRAM = """
from bough import Node, aio, assistant

async def right(store: aio.AsyncStore) -> list[Node]:
    session = await store.session("s", title="t", model="m")
    async with session.turn("q", idempotency_key="k", wait=1, busy="fork") as turn:
        ids: list[str] = await turn.add(assistant("a"), model="m")
    head: str | None = await session.head
    await session.save_turn([assistant("a")], after=head, wait=0)
    fork: aio.AsyncSession = await session.fork(at=ids[0])
    async for node in store.list_messages(limit=1):
        print(node.id)
    return await fork.path(last=1)

async def wrong(session: aio.AsyncSession, store: aio.AsyncStore) -> None:
    await aio.connect(namespac="n")
    await store.session("s", titel="t")
    session.turn("q", idempotencykey="k")
    await session.save_turn([assistant("a")], mdoel="m")
    await session.delegate("a", owm=True)
    await store.search("q", sicne=0)
    store.list_messages(limt=1)
    await store.turns(limit="all")
"""


def test_a_misspelled_keyword_fails_the_type_check(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(tmp_path / "program.py")]
    found = subprocess.run(mypy, capture_output=True, text=True, check=False, cwd=Path(bough.__file__).parents[2])
    lines = PROGRAM.splitlines()
    begin = next(number for number, line in enumerate(lines, 1) if "def wrong" in line)
    wrong = [int(line.split(":")[1]) for line in found.stdout.splitlines() if ": error:" in line]
    assert wrong == list(range(begin + 1, len(lines) + 1)), found.stdout


def test_a_misspelled_keyword_is_a_type_error(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")
            with pytest.raises(TypeError, match="titel"):
                await store.session("s", titel="t")  # type: ignore[call-arg]
            with pytest.raises(TypeError, match="mdoel"):
                await session.save_turn([assistant("a")], mdoel="m")  # type: ignore[call-arg]
            with pytest.raises(TypeError, match="idempotencykey"):
                async with session.turn("q", idempotencykey="k"):  # type: ignore[call-arg]
                    pass
            assert await session.path() == []

    asyncio.run(run())


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


def test_tasks_write_several_answers_at_the_same_time(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")

            async def write(turn: aio.AsyncTurn, text: str) -> None:
                async with turn:
                    await turn.sketch(text[:1])
                    await asyncio.sleep(0.01)
                    await turn.add(text)

            async with session.answers(["a", "b"], message="question") as answers:
                await asyncio.gather(*(write(turn, f"answer {n}") for n, turn in enumerate(answers)))
                answers.choose(answers[1])
            assert answers.chosen is answers[1]
            assert [node.message.text for node in await session.path()] == ["question", "answer 1"]
            assert len(await store.children(await answers.question)) == len(answers) == 2

    asyncio.run(run())


def test_answers_that_are_cancelled_keep_nothing_from_others(tmp_path: Path) -> None:
    async def run() -> None:
        async with await aio.connect(tmp_path / "a.db") as store:
            session = await store.session("s")
            await session.save_turn(["question", "first"])

            async def hang() -> None:
                async with session.answers(["a", "b"]) as answers:
                    async with answers[0] as turn:
                        await turn.sketch("half")
                        await asyncio.sleep(60)

            for pause in (0, 0.001, 0.05):
                task = asyncio.create_task(hang())
                await asyncio.sleep(pause)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            await session.save_turn(["next", "answer"], wait=5)
            assert len(await session.path()) == 4
            assert {info.status for info in await store.turns("s")} == {"complete", "interrupted"}

    asyncio.run(run())
