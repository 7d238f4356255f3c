"""Bytes written for a turn, and turns that are saved by threads and by asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import bough
from bench.append import KEY, REPLY
from bench.measure import Result, Scale, Work, cpu_contest
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import some_turns

TASKS = 100
THREADS = 8


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    yield written(scale, directory)
    yield from tasks(scale, directory)


def written(scale: Scale, directory: Path) -> Result:
    """Bytes that the kernel was given to write, for a turn; each side writes to its own file in turn."""
    talk = some_turns(scale.rounds * scale.turns_per_round)
    rows = prepared(talk)
    mine = theirs = 0
    with bough.connect(directory / "bytes.db") as store:
        raw = Raw(directory / "bytes-raw.db")
        raw.session(KEY)
        session = store.session(KEY)
        for turn, row in zip(talk, rows, strict=True):
            mine += bytes_of(lambda turn=turn: session.save_turn(turn, **REPLY))  # type: ignore[misc]
            theirs += bytes_of(lambda row=row: raw.append(KEY, row))  # type: ignore[misc]
        raw.close()
    count = len(talk)
    return Result(
        "append a turn: bytes written",
        mine / theirs,
        at_most=1.2,
        detail=f"{mine // count:,} : {theirs // count:,} bytes",
    )


def bytes_of(work: Callable[[], object]) -> int:
    before = handed_over()
    work()
    return handed_over() - before


def handed_over() -> int:
    """Bytes that this process has handed to the kernel to write, as Linux counts them."""
    return int(Path("/proc/self/io").read_text().split("wchar:")[1].split()[0])


def tasks(scale: Scale, directory: Path) -> Iterator[Result]:
    """A hundred sessions at once: by asyncio, and by threads."""
    talk = some_turns(TASKS)
    with bough.connect(directory / "threads.db") as store, ThreadPoolExecutor(THREADS) as pool:
        with asyncio.Runner() as runner:
            awaited = runner.run(connected(directory / "tasks.db"))

            def by_tasks(_: int) -> Work:
                return lambda: runner.run(save_all(awaited, talk))

            def by_threads(_: int) -> Work:
                def save(number: int) -> None:
                    store.session(f"cli:{number}").save_turn(talk[number], **REPLY)

                return lambda: list(pool.map(save, range(TASKS)))

            found = cpu_contest(2 * scale.rounds, by_tasks, by_threads)
            runner.run(awaited.close())
    yield Result(
        f"{TASKS} sessions at once by asyncio, to threads: processor time of a turn", found.ratio, at_most=1.2,
        detail=found.detail(TASKS).replace(":", "asyncio :") + " threads",
    )  # fmt: skip


async def connected(path: Path) -> bough.aio.AsyncStore:
    return await bough.aio.connect(path)


async def save_all(store: bough.aio.AsyncStore, talk: list[list[bough.Message]]) -> None:
    async def save(number: int) -> None:
        session = await store.session(f"cli:{number}")
        await session.save_turn(talk[number], **REPLY)

    await asyncio.gather(*map(save, range(len(talk))))
