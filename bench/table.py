"""The table, on the terminal and in docs/performance.md."""

from __future__ import annotations

import math
import os
import platform
from datetime import date
from pathlib import Path

import apsw

from bench.measure import Result

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def head() -> str:
    return "| what | measured | target | | bough : raw |\n|---|--:|--:|---|--:|"


def line(result: Result) -> str:
    measured = "rejected" if math.isnan(result.value) else f"{number(result.value)}{result.unit}"
    return f"| {' | '.join([result.name, measured, result.target, result.verdict, result.detail])} |"


def number(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def write(lines: list[str]) -> None:
    """Write the table between the markers of the page."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    after = rest.split(END)[1]
    conditions = (
        f"Measured on {date.today()}: Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}, "
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    )
    PAGE.write_text("\n".join([before + BEGIN, conditions, "", head(), *lines, END + after]), "utf-8")
