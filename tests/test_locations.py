"""Platform directories, and the one test of what is a server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bough.locations import cache_directory, config_directory, data_directory, is_server_url, state_directory

DIRECTORIES = (data_directory, config_directory, state_directory, cache_directory)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")


def test_directories_follow_xdg_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    share = ["/home/me/.local/share/bough", "/home/me/.config/bough", "/home/me/.local/state/bough"]
    assert [directory({}) for directory in DIRECTORIES] == [*share, "/home/me/.cache/bough"]
    for name, directory in zip(("DATA", "CONFIG", "STATE", "CACHE"), DIRECTORIES, strict=True):
        assert directory({f"XDG_{name}_HOME": "/x"}) == "/x/bough"


def test_directories_are_in_the_library_on_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    support = "/home/me/Library/Application Support/bough"
    assert [directory({}) for directory in DIRECTORIES] == [*[support] * 3, "/home/me/Library/Caches/bough"]


def test_directories_are_in_local_app_data_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    found = [Path(directory({"LOCALAPPDATA": "/local"})) for directory in DIRECTORIES]
    assert found == [*[Path("/local/bough")] * 3, Path("/local/bough/Cache")]


def test_the_cache_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_directory({"BOUGH_CACHE": "~/weights"}) == "/home/me/weights"


@pytest.mark.parametrize("url", ["postgresql://host/db", "postgres://host/db", "postgresql://?host=/tmp"])
def test_a_postgresql_url_is_a_server(url: str) -> None:
    assert is_server_url(url)


@pytest.mark.parametrize("file", ["chats.db", ":memory:", Path("postgresql"), "sqlite://x", "C:\\chats.db", ""])
def test_anything_else_is_a_file(file: str | Path) -> None:
    assert not is_server_url(file)
