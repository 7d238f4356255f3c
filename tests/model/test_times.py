"""Times and spans, as parameters accept them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from bough import Invalid
from bough.model.times import LATEST, micros, moment, span

NOON = datetime(2026, 11, 18, 12, 0, 0, 1, UTC)


def test_a_datetime_is_exact_to_the_microsecond_in_any_zone() -> None:
    assert micros(NOON) == 1_795_003_200_000_001
    assert micros(NOON.astimezone(timezone(timedelta(hours=5)))) == micros(NOON)
    assert moment(micros(NOON)) == NOON
    assert moment(None) is None


def test_a_naive_datetime_is_local_time() -> None:
    assert micros(NOON.astimezone().replace(tzinfo=None)) == micros(NOON)
    assert micros(datetime.min) < 0 < micros(datetime.max)


def test_microseconds_pass_as_they_are() -> None:
    assert [micros(time) for time in (0, 1_795_003_200_000_001, -(10**15))] == [0, 1_795_003_200_000_001, -(10**15)]


@pytest.mark.parametrize("time", [1_795_003_200, 1_795_003_200_000, 1.5, "2026", True, None, 2**63])
def test_what_is_no_time_is_refused(time: Any) -> None:
    with pytest.raises(Invalid, match=r"^since is .*microseconds since 1970"):
        micros(time, "since")


def test_spans_are_seconds_or_timedeltas() -> None:
    assert span(1.5) == span(timedelta(milliseconds=1500)) == 1_500_000
    assert span(0) == 0
    assert span(timedelta.max) == LATEST


@pytest.mark.parametrize("length", [-1, timedelta(-1), float("nan"), float("inf"), "30d", True, None])
def test_what_is_no_span_is_refused(length: Any) -> None:
    with pytest.raises(Invalid, match="older_than is a number of seconds or a timedelta"):
        span(length, "older_than")
