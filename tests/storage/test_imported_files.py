"""The files that imports have read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

import bough
from bough import Store
from bough.storage.imported_files import ImportedFile, imported_files, put_imported_files


@pytest.fixture
def store(anywhere: dict[str, Any]) -> Iterator[Store]:
    with bough.connect(**anywhere) as opened:
        yield opened


def test_files_are_remembered_by_source_and_directory(store: Store) -> None:
    inside, beside = f"/h/chats{os.sep}a.jsonl", f"/h/chats.old{os.sep}a.jsonl"
    first, grown = ImportedFile(3, 5, b"\x00\xff", "1.0"), ImportedFile(4, 6, b"", "1.0")
    store.write(lambda _: put_imported_files(store.db, "codex", {inside: first, beside: first, "/h/\udc80": first}))
    store.write(lambda _: put_imported_files(store.db, "codex", {inside: grown}))
    assert imported_files(store.db, "/h/chats") == imported_files(store.db, inside) == {inside: ("codex", grown)}
    assert imported_files(store.db, "/h").keys() == {inside, beside}
    assert imported_files(store.db, "/h/chats.o") == imported_files(store.db, "/h/\udc80") == {}
