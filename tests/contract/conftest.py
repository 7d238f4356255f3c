"""Every backend that keeps the contract. A new one is added here, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import aio
from tests.contract.awaited import Awaited

BACKENDS = ["sqlite", "sqlite, awaited"]


@pytest.fixture(params=BACKENDS)
def connect(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the same store each time it is called."""
    place = tmp_path / "contract.db"
    if request.param == "sqlite":
        yield lambda **options: bough.connect(place, **options)
        return
    loop = asyncio.new_event_loop()
    yield lambda **options: Awaited(loop.run_until_complete(aio.connect(place, **options)), loop)
    loop.close()


@pytest.fixture
def store(connect: Callable[..., Any]) -> Iterator[bough.Store]:
    with connect() as opened:
        yield opened
