"""Servers that several tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.serving import Serving, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """A server with an empty store in a file."""
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running
