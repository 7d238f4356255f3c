"""The contract holds for every backend, and for the awaitable verbs over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

import bough
from bough import aio
from tests.contract.awaited import Awaited


@pytest.fixture(params=["", "awaited"])
def connect(request: pytest.FixtureRequest, anywhere: dict[str, Any]) -> Iterator[Callable[..., Any]]:
    """Opens the same store each time it is called."""
    if not request.param:
        yield partial(bough.connect, **anywhere)
        return
    loop = asyncio.new_event_loop()
    yield lambda **options: Awaited(loop.run_until_complete(aio.connect(**anywhere, **options)), loop)
    loop.close()


@pytest.fixture
def store(connect: Callable[..., Any]) -> Iterator[bough.Store]:
    with connect() as opened:
        yield opened
