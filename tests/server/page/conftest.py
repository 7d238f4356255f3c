"""A server with a filled store, and a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.exporters.conftest import browser
from tests.server.page.sample import build
from tests.server.serving import Serving, serving

__all__ = ["browser"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with a store that has a bit of everything."""
    directory = tmp_path_factory.mktemp("page")
    build(directory / "s.db")
    with serving(directory) as running:
        yield running
