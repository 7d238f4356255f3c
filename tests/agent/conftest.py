"""A store in a file, and a session in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bough


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "agent.db"


@pytest.fixture
def store(place: Path) -> Iterator[bough.Store]:
    with bough.connect(place) as opened:
        yield opened


@pytest.fixture
def session(store: bough.Store) -> bough.Session:
    return store.session("cli:default")
