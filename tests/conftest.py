"""Fixtures of several packages: every backend, and the weights of the embedded model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from bough.db import StrPath
from tests.once import once
from tests.postgres.server import FAST, Server

BACKENDS = ["sqlite", "postgres"]

# The time of an example depends on the load of the machine.
settings.register_profile("unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a server: `$BOUGH_TEST_POSTGRES`, or one that is started for this run."""
    if given := os.environ.get("BOUGH_TEST_POSTGRES"):
        yield given
        return
    server = Server(FAST)
    yield server.start().url
    server.remove()


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """The URL of an empty database, for tests that change the schema."""
    with empty_database(postgres) as url:
        yield url


@contextmanager
def empty_database(postgres: str) -> Iterator[str]:
    """The URL of a database that is dropped afterwards."""
    import psycopg
    from psycopg import sql

    name = f"empty_{uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        yield urlsplit(postgres)._replace(path=f"/{name}").geturl()
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def namespace() -> str:
    """A namespace of this test alone."""
    return f"test-{uuid4()}"


@pytest.fixture(params=BACKENDS)
def anywhere(request: pytest.FixtureRequest, tmp_path: Path, namespace: str) -> dict[str, Any]:
    """Arguments of `connect` that open the same store each time, one on each backend."""
    if request.param == "postgres":
        return {"where": request.getfixturevalue("postgres"), "namespace": namespace}
    return {"where": tmp_path / "a.db"}


@pytest.fixture
def somewhere(anywhere: dict[str, Any]) -> StrPath:
    """The first argument of `connect` for the same store: a file, or a URL."""
    namespace = anywhere.get("namespace")
    return f"{anywhere['where']}?namespace={namespace}" if namespace else anywhere["where"]


@pytest.fixture(scope="session")
def weights_cache(request: pytest.FixtureRequest) -> Path:
    """A directory with the weights of the embedded model, for `$BOUGH_CACHE`; they are downloaded once."""
    from bough.providers import model_file

    assert request.config.cache is not None
    with once(request.config.cache.mkdir("weights")) as directory:
        model_file.install(directory)
    return directory
