"""A server on each backend, with scripted models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx2
import pytest

import bough
from tests.conftest import BACKENDS
from tests.server.openai.conftest import scripted
from tests.server.serving import Serving, serving


@pytest.fixture(scope="module", params=BACKENDS)
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with an empty store."""
    directory: Path = tmp_path_factory.mktemp("api")
    db = None
    if request.param == "postgres":
        db = f"{request.getfixturevalue('postgres')}?namespace=api-{uuid4()}"
    with serving(directory, db=db, config=scripted(directory)) as running:
        yield running


@pytest.fixture
def http(api: Serving) -> Iterator[httpx2.Client]:
    with api.client() as client:
        yield client


@pytest.fixture
def store(api: Serving) -> Iterator[bough.Store]:
    """The store, as another process has it."""
    with bough.connect(str(api.db)) as opened:
        yield opened
