"""A PostgreSQL server started for the measurement: compared with raw psycopg, and many sessions compared with one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

from tests.postgres.server import Server

import bough
from bench.append import KEY, saving
from bench.loading import key
from bench.measure import Result, Scale, contest
from bench.raw_postgres import RawServer
from bench.rows import prepared
from bench.workload import Conversation, content_bytes, conversation, dialog, some_turns
from bough import aio

SESSIONS = 64


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    with running("fsync=off") as url, bough.connect(url) as store:  # the disk would add the same wait to both sides
        raw = RawServer(url)
        yield appending(scale, store, raw, "not waiting for the disk", None)
        yield loading(scale, store, raw)
        raw.close()
        yield from copying(scale, url, directory)
    with running() as url:
        with bough.connect(url) as store:
            raw = RawServer(url)
            yield appending(scale, store, raw, "durable", 1.5)
            raw.close()
        yield from crowds(scale, url)


@contextmanager
def running(*settings: str) -> Iterator[str]:
    """Start a server; its URL."""
    server = Server(settings)
    try:
        yield server.start().url
    finally:
        server.remove()


def appending(scale: Scale, store: bough.Store, raw: RawServer, how: str, target: float | None) -> Result:
    """Turns of one session, compared with a psycopg that waits for the server as few times as it can."""
    per = scale.turns_per_round
    talk = some_turns(scale.rounds * per)
    parts = [talk[start : start + per] for start in range(0, len(talk), per)]
    raw_parts = [prepared(part) for part in parts]
    raw.session(KEY)
    session = store.session(KEY)

    def append(number: int) -> None:
        for turn in raw_parts[number]:
            raw.append(KEY, turn)

    found = contest(scale.rounds, lambda n: saving(session, parts[n]), lambda n: lambda: append(n))
    return Result(f"PostgreSQL: append a turn, {how}", found.ratio, at_most=target, detail=found.detail(per))


def loading(scale: Scale, store: bough.Store, raw: RawServer) -> Result:
    messages = scale.paths[-1]
    talk = conversation(messages, seed=messages)
    session = store.session(key(messages))
    session.record(dialog(talk))
    raw.session(key(messages))
    raw.load(key(messages), prepared(talk))
    store.db.vacuum()  # what a server does by itself within a minute
    found = contest(scale.rounds, lambda _: session.path, lambda _: lambda: raw.path(key(messages)))
    return Result(f"PostgreSQL: load a path of {messages:,}", found.ratio, at_most=2.0, detail=found.detail())


def copying(scale: Scale, url: str, directory: Path) -> Iterator[Result]:
    """A file to a server and back, in megabytes of content."""
    talk = conversation(scale.long)
    size = content_bytes(talk) / 1_000_000
    with (
        bough.connect(directory / "from.db") as file,
        bough.connect(url, namespace="copy") as server,
        bough.connect(directory / "back.db") as back,
    ):
        file.session(KEY).record(dialog(talk))
        for name, source, target in (("SQLite to PostgreSQL", file, server), ("PostgreSQL to SQLite", server, back)):
            began = perf_counter()
            copied = source.copy_to(target)
            spent = perf_counter() - began
            detail = f"{copied.messages / spent:,.0f} messages/s"
            yield Result(f"copy {scale.long:,} messages, {name}", size / spent, " MB/s", detail=detail)


def crowds(scale: Scale, url: str) -> Iterator[Result]:
    """Turns per second of many concurrent sessions, to those of one: in one namespace, and each in its own."""
    talk = some_turns(scale.turns_per_round)
    alone, together, apart = [], [], []
    for run in range(scale.writer_runs):
        alone.append(asyncio.run(rate(url, [f"alone-{run}"], talk)))
        together.append(asyncio.run(rate(url, [f"together-{run}"] * SESSIONS, talk)))
        apart.append(asyncio.run(rate(url, [f"apart-{run}-{number}" for number in range(SESSIONS)], talk)))
    for name, rates in (("one namespace", together), ("as many namespaces", apart)):
        ratio = median(many / one for many, one in zip(rates, alone, strict=True))
        detail = f"{median(rates):,.0f} : {median(alone):,.0f} turns/s"
        least = 3.0 if rates is apart else None
        yield Result(f"PostgreSQL: {SESSIONS} sessions to 1, in {name}", ratio, at_least=least, detail=detail)


async def rate(url: str, namespaces: list[str], talk: Conversation) -> float:
    """Turns per second, with one session for each name; equal names share a store."""
    stores = {name: await aio.connect(url, namespace=name, connections=connections(namespaces)) for name in namespaces}
    sessions = [await stores[name].session(f"cli:{number}") for number, name in enumerate(namespaces)]

    async def converse(session: aio.AsyncSession) -> None:
        for turn in talk:
            await session.save_turn(turn, wait=60)

    began = perf_counter()
    await asyncio.gather(*map(converse, sessions))
    spent = perf_counter() - began
    for store in stores.values():
        await store.close()
    return len(namespaces) * len(talk) / spent


def connections(namespaces: list[str]) -> int:
    return 16 if len(set(namespaces)) == 1 else 1
