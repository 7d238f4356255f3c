"""Loading a conversation, whole or its end, in a warm process and in a new one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import bough
from bench.measure import Contest, Result, Scale, contest
from bench.process import run
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import conversation, dialog

END = 50


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    mine, theirs = directory / "load.db", directory / "load-raw.db"
    build(scale, mine, theirs)
    with bough.connect(mine) as store:
        raw = Raw(theirs)
        yield from warm(scale, store, raw)
        raw.close()
    yield from fresh(scale, mine, theirs)


def key(messages: int) -> str:
    return f"cli:{messages}"


def build(scale: Scale, mine: Path, theirs: Path) -> None:
    raw = Raw(theirs)
    with bough.connect(mine) as store:
        for messages in scale.paths:
            talk = conversation(messages, seed=messages)
            store.session(key(messages)).record(dialog(talk))
            raw.session(key(messages))
            raw.load(key(messages), prepared(talk))
    raw.close()


def warm(scale: Scale, store: bough.Store, raw: Raw) -> Iterator[Result]:
    longest = scale.paths[-1]
    for messages in scale.paths:
        session = store.session(key(messages))
        found = contest(scale.rounds, lambda _: session.path, lambda _: lambda: raw.path(key(messages)))  # noqa: B023
        target = 2.0 if messages == longest else None
        yield Result(f"load a path of {messages:,}, warm", found.ratio, at_most=target, detail=found.detail())
        found = contest(scale.rounds, lambda _: lambda: read(session), lambda _: lambda: raw.path(key(messages)))  # noqa: B023
        name = f"load a path of {messages:,}, warm, and read every message"
        yield Result(name, found.ratio, at_most=target, detail=found.detail())
    session = store.session(key(longest))
    assert [node.id for node in session.path(END)] == [node.id for node in session.path()[-END:]]
    found = contest(
        4 * scale.rounds, lambda _: lambda: session.path(last=END), lambda _: lambda: raw.path(key(longest), END)
    )
    yield Result(f"last {END} of {longest:,}", found.ratio, at_most=2.0, detail=found.detail())


def read(session: bough.Session) -> list[bough.Node]:
    """Load the path and decode every message; they are decoded on first access."""
    path = session.path()
    for node in path:
        node.message  # noqa: B018
    return path


def fresh(scale: Scale, mine: Path, theirs: Path) -> Iterator[Result]:
    """In a new process: with and without the start of Python and the imports."""
    longest = scale.paths[-1]
    for messages in scale.paths:
        inside, outside = Contest([], []), Contest([], [])
        for _ in range(scale.starts):
            for name, path, times, walls in (
                ("bough", mine, inside.mine, outside.mine),
                ("raw", theirs, inside.theirs, outside.theirs),
            ):
                wall, output = run("-m", "bench.load_once", name, path, key(messages))
                times.append(float(output))
                walls.append(wall)
        target = 2.0 if messages == longest else None
        name = f"load a path of {messages:,}, new process"
        yield Result(f"{name}, with Python and imports", outside.ratio, at_most=target, detail=outside.detail())
        yield Result(f"{name}, without", inside.ratio, at_most=target, detail=inside.detail())
