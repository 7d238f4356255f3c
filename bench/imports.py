"""The time that `import bough` adds to the start of Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.measure import Result, Scale, Work, rounds_of
from bench.process import start

SHOWN = ("import bough", "from bough import connect, user", "import apsw", "pass")


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    for code in SHOWN:
        starting(code, directory)()  # so that everything is compiled
    mine, used, driver, bare = rounds_of(
        2 * scale.starts, *(lambda _, code=code: starting(code, directory) for code in SHOWN)
    )
    over = [
        1000 * median(time - nothing for time, nothing in zip(times, bare, strict=True))
        for times in (mine, used, driver)
    ]
    detail = f"{{:.0f}} ms : {over[2]:.0f} ms for apsw alone"
    yield Result("`import bough`, over bare Python", over[0], " ms", at_most=40, detail=detail.format(over[0]))
    name = "`from bough import connect, user`: what every program loads"
    yield Result(name, over[1], " ms", at_most=40, detail=detail.format(over[1]))


def starting(code: str, directory: Path) -> Work:
    return lambda: start("-c", code, cwd=directory).wait()
