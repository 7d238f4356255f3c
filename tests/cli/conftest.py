from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.bough_process import Shell
from tests.cli.history import fill


@pytest.fixture
def sh(tmp_path: Path) -> Shell:
    """Runs `bough` in an own directory, on an empty store."""
    return Shell(tmp_path, tmp_path / "chats.db")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    path = tmp_path_factory.mktemp("history") / "chats.db"
    return path, fill(path)


@pytest.fixture
def ids(filled: tuple[Path, dict[str, str]]) -> dict[str, str]:
    """The ids of the messages of the history, by short names."""
    return filled[1]


@pytest.fixture
def kept(sh: Shell, filled: tuple[Path, dict[str, str]]) -> Shell:
    """Runs `bough` on a copy of the history."""
    shutil.copy(filled[0], sh.db)
    return sh
