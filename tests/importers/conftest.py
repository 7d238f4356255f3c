"""Fixtures of the importers' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bough
from bough import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with bough.connect(tmp_path / "bough.db") as opened:
        yield opened
