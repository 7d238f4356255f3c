"""Times and durations, for people and for programs."""

from __future__ import annotations

import pytest

from bough.cli.output.times import ago
from bough.errors import Invalid
from bough.model.times import iso, parse_duration, parse_time


@pytest.mark.parametrize(
    ("passed", "said"),
    [(0, "just now"), (59, "just now"), (60, "1m ago"), (3 * 3600 + 5, "3h ago"), (86_400, "1d ago"),
     (15 * 86_400, "2w ago"),
     (70 * 86_400, "2mo ago"), (800 * 86_400, "2y ago"), (-500, "just now")],
)  # fmt: skip
def test_ages_are_relative(passed: int, said: str) -> None:
    assert ago(1_000_000_000_000_000, now=1_000_000_000 + passed) == said


def test_times_and_durations_are_parsed() -> None:
    assert iso(1_700_000_000_123_456) == "2023-11-14T22:13:20.123456Z"
    assert iso(None) is None
    seconds = {"30d": 2_592_000, "12h": 43_200, "2w": 1_209_600, "90m": 5400, "3": 259_200, "0.5h": 1800}
    assert {text: parse_duration(text) for text in seconds} == seconds
    assert parse_time("7d", now=1_000_000_000) == (1_000_000_000 - 604_800) * 1_000_000
    assert parse_time("2023-11-14T22:13:20+00:00") == 1_700_000_000_000_000
    for wrong in ("", "soon", "-3d", "3 parsecs", "2023-13-45"):
        with pytest.raises(Invalid):
            parse_time(wrong)
