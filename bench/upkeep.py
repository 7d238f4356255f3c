"""Growth: what must be linear, and what must not depend on the size of the store: bough against itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import TypeVar

import bough
from bench.measure import Contest, Result, Scale, contest, cpu_contest, duration
from bench.workload import conversation, dialog, some_turns
from bough import Store
from bough.model import SessionInfo

T = TypeVar("T")
TIMES = 8
"""How much larger the large store is."""
MANY = 100_000
SHOWN = 50
DAY = 86_400_000_000


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    yield from removing(scale, directory)
    yield from lists(scale, directory)
    yield from rewinding(scale, directory)


def removing(scale: Scale, directory: Path) -> Iterator[Result]:
    """Clean and purge a store, and one that is larger."""
    sizes = [max(1, scale.conversations // TIMES), scale.conversations]
    times: dict[str, list[float]] = {"clean": [], "purge": []}
    longest = 0.0
    for size in sizes:
        now = [DAY]
        with bough.connect(directory / f"upkeep-{size}.db", clock=lambda now=now: now[0]) as store:  # type: ignore[misc]
            fill(store, size)
            now[0] += DAY
            seconds, waited = with_longest(store, lambda store=store: store.clean(60, dry_run=False))  # type: ignore[misc]
            times["clean"].append(seconds)
            seconds, other = with_longest(store, lambda store=store: store.purge())  # type: ignore[misc]
            times["purge"].append(seconds)
            longest = max(longest, waited, other)
    for verb, (less, more) in times.items():
        growth = more / less / (sizes[1] / sizes[0])
        detail = f"{duration(more)} : {duration(less)}"
        yield Result(
            f"{verb}, a session, to one of an eighth of them: processor time", growth, at_most=1.3, detail=detail
        )
        whole = more / sizes[1] * MANY
        detail = f"from {sizes[1]:,} sessions"
        yield Result(f"{verb} {MANY:,} sessions: processor time", whole, " s", at_most=60, detail=detail)
    yield Result("clean and purge: the longest transaction", longest * 1000, " ms", at_most=300)


def with_longest(store: Store, work: Callable[[], object]) -> tuple[float, float]:
    """The processor time of work, and the wall time of its longest write transaction."""
    transact, longest = store.db.transact, 0.0

    def timed(inside: Callable[[], T]) -> T:
        nonlocal longest
        began = perf_counter()
        try:
            return transact(inside)
        finally:
            longest = max(longest, perf_counter() - began)

    store.db.transact = timed  # type: ignore[method-assign]
    began = process_time()
    work()
    return process_time() - began, longest


def fill(store: Store, size: int) -> None:
    talk = some_turns(20)
    for number in range(size):
        store.session(f"telegram:{number}").save_turn(talk[number % len(talk)])


def lists(scale: Scale, directory: Path) -> Iterator[Result]:
    """What a list and a search of one session do in a store, and in a larger one."""
    with bough.connect(directory / "lists-small.db") as small, bough.connect(directory / "lists.db") as large:
        fill(small, max(1, scale.conversations // TIMES))
        fill(large, scale.conversations)
        for store in (small, large):
            store.index()
        verbs: dict[str, Callable[[Store], object]] = {
            f"previews of the {SHOWN} most recent": previews,
            f"headlines of {SHOWN} heads": lambda store: store.headlines(
                [info.head_id or "" for info in recent(store)]
            ),
            "search of one session": lambda store: store.search("the", session="telegram:1"),
        }
        for name, verb in verbs.items():
            found = growing(scale, verb, small, large)
            title = f"{name} of {scale.conversations:,} conversations, to an eighth: processor time"
            yield Result(title, found.ratio, at_most=1.3, detail=found.detail())
        plain = contest(2 * scale.rounds, lambda _: lambda: previews(large), lambda _: lambda: recent(large))
        yield Result(f"{SHOWN} most recent with previews, to without", plain.ratio, detail=plain.detail())


def growing(scale: Scale, verb: Callable[[Store], object], small: Store, large: Store) -> Contest:
    return cpu_contest(2 * scale.rounds, lambda _: lambda: verb(large), lambda _: lambda: verb(small))


def recent(store: Store) -> list[SessionInfo]:
    return store.sessions(limit=SHOWN)


def previews(store: Store) -> object:
    return store.previews(recent(store))


def rewinding(scale: Scale, directory: Path) -> Iterator[Result]:
    """One turn back in a long conversation, and in one of ten messages."""
    with bough.connect(directory / "rewind.db") as store:
        for key, length in (("long", scale.long), ("short", 10)):
            store.session(key).record(dialog(conversation(length)))
            store.session(key).save_turn(some_turns(1)[0])

        def back(key: str) -> Callable[[], object]:
            session = store.session(key)
            session.save_turn(some_turns(1)[0])
            return lambda: session.rewind(turns=1)

        found = cpu_contest(2 * scale.rounds, lambda _: back("long"), lambda _: back("short"))
        yield Result(
            f"rewind a turn of {scale.long:,} messages, to one of 10: processor time", found.ratio, at_most=1.3,
            detail=found.detail(),
        )  # fmt: skip
