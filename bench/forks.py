"""Forks: the time of one, and the bytes that it adds to the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import apsw

import bough
from bench.measure import Result, Scale, Work, contest
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import conversation, dialog

KEY = "cli:bench"
FORKS = 100


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    file = directory / "fork.db"
    talk = conversation(scale.long)
    raw = Raw(directory / "fork-raw.db")
    raw.session(KEY)
    raw.load(KEY, prepared(talk))
    with bough.connect(file) as store:
        session = store.session(KEY)
        session.record(dialog(talk))
        path = session.path()
        middle = path[len(path) // 2].id

        def forking(_: int) -> Work:
            return lambda: [session.fork(at=middle) for _ in range(scale.turns_per_round)]

        def inserting(number: int) -> Work:
            def work() -> None:
                for place in range(scale.turns_per_round):
                    raw.session(f"cli:fork:{number}:{place}", head=len(path) // 2)

            return work

        found = contest(scale.rounds, forking, inserting)
        detail = found.detail(scale.turns_per_round)
        yield Result(
            "fork, to one raw insert",
            found.ratio,
            at_most=1.5,
            detail=detail,
            flattered=found.flattered(scale.turns_per_round),
        )
        near, far = (growth(file, session, node.id) for node in (path[len(path) // 2], path[-1]))
    raw.close()
    detail = f"a fork adds {far / FORKS:.0f} B"
    yield Result("fork: bytes added per message on its path", (far - near) / len(path), " B", at_most=0, detail=detail)


def growth(file: Path, session: bough.Session, at: str) -> int:
    """The bytes that `FORKS` forks add, in rows and indexes. (The file itself grows by whole pages.)"""
    before = payload(file)
    for _ in range(FORKS):
        session.fork(at=at)
    return payload(file) - before


def payload(file: Path) -> int:
    connection = apsw.Connection(str(file))
    ((found,),) = connection.execute("SELECT sum(payload) FROM dbstat")
    connection.close()
    return int(found)
