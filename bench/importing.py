"""Imports of other programs' histories: the first, when everything is new, and a second, when nothing is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.histories import SETS
from bench.measure import Result, Scale
from bench.process import run


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    for name, make in SETS.items():
        place = directory / name
        place.mkdir()
        path = make(place, scale.megabytes)
        size = sum(file.stat().st_size for file in path.rglob("*")) if path.is_dir() else path.stat().st_size
        yield from imported(f"import {size / 1e6:,.0f} MB of {name}", path, place / "bough.db", size)


def imported(name: str, path: Path, store: Path, size: int) -> Iterator[Result]:
    first, again = ([float(part) for part in run("-m", "bench.import_once", store, path)[1].split()] for _ in range(2))
    seconds, messages, added, peak = first
    assert added == messages
    assert again[2] == 0
    detail = f"{messages:,.0f} messages, {messages / seconds:,.0f} a second"
    yield Result(name, size / 1e6 / seconds, " MB/s", at_least=10, detail=detail)
    yield Result(
        f"{name}, again", size / 1e6 / again[0], " MB/s", detail=f"{messages / again[0]:,.0f} messages a second"
    )
    yield Result(f"{name}, peak memory", peak / 1e6, " MB", at_most=200)
