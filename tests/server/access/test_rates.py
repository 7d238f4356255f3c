"""The holder of a token may send so many requests, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

import bough
from bough.server.access import tokens
from bough.server.access.rates import Rates
from bough.server.problems import HttpProblem
from tests.server.serving import serving


def test_requests_come_back_with_time_and_callers_do_not_share() -> None:
    now = [0.0]
    rates = Rates(60, lambda: now[0])
    for _ in range(60):
        rates.check("a")
    with pytest.raises(HttpProblem):
        rates.check("a")
    rates.check("b")
    now[0] = 1.0
    rates.check("a")
    with pytest.raises(HttpProblem):
        rates.check("a")


def test_one_request_too_many_is_told_when_to_come_back(tmp_path: Path) -> None:
    with serving(tmp_path, config="[server]\nrequests_per_minute = 3\n") as server:
        with bough.connect(tmp_path / "s.db") as store:
            _, other = tokens.create(store, "other", ["read"])
        with server.client() as client, server.client(other) as else_:
            assert [client.get("/v1/models").status_code for _ in range(4)] == [200, 200, 200, 429]
            refused = client.get("/v1/models")
            assert refused.json()["error"]["code"] == "rate_limit_exceeded"
            assert refused.headers["retry-after"]
            assert else_.get("/v1/models").status_code == 200
            assert client.get("/healthz").status_code == 200
