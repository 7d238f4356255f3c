"""Start-up time of `bough`, compared with Python importing the minimum for such a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import bough
from bench.measure import Result, Scale, Work, contest
from bench.process import run
from bench.workload import some_turns

LEAST = ("-c", "import sqlite3, click")
VERSION = ("-m", "bough", "--version")


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    place = directory / "startup.db"
    fill(place, scale.conversations)
    listing = ("-m", "bough", "--db", place, "conversations", "ls")
    for arguments, name, at_most in (
        (VERSION, "`bough --version`", 1.5),
        (listing, f"`bough conversations ls` on {scale.conversations:,} conversations", 3.0),
    ):
        run(*arguments)  # so that everything is compiled
        found = contest(2 * scale.starts, starting(*arguments), starting(*LEAST))
        yield Result(f"{name}, to Python with sqlite3 and click", found.ratio, at_most=at_most, detail=found.detail())


def fill(place: Path, conversations: int) -> None:
    talk = some_turns(20)
    with bough.connect(place) as store:
        for number in range(conversations):
            store.session(f"cli:{number}").save_turn(talk[number % len(talk)])


def starting(*arguments: object) -> Callable[[int], Work]:
    return lambda _: lambda: run(*arguments)
