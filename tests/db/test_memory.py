"""Stores in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bough
from bough import assistant, user


def test_a_store_in_memory_has_the_same_methods(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with bough.connect(":memory:") as store:
        session = store.session("cli:secret")
        session.save_turn([user("a whisper"), assistant("x" * 100_000)])
        with session.turn("more") as turn:
            turn.sketch("half a")
            turn.add(assistant("whole"))
        assert [node.role for node in session.path()] == ["user", "assistant", "user", "assistant"]
        assert [hit.node.message.text for hit in store.search("whisper")] == ["a whisper"]
        assert session.fork().path() == session.path()
        store.delete_session("cli:secret")
        assert store.verify() == []
    assert os.listdir(tmp_path) == []


def test_two_stores_in_memory_are_independent() -> None:
    with bough.connect(":memory:") as one, bough.connect(":memory:") as other:
        one.session("cli:a")
        assert other.sessions() == []


def test_a_store_in_memory_can_be_backed_up_to_a_file(tmp_path: Path) -> None:
    with bough.connect(":memory:") as store:
        store.session("cli:a").save_turn([user("q"), assistant("a")])
        store.backup(tmp_path / "kept.db")
    with bough.connect(tmp_path / "kept.db") as kept:
        assert [node.message.text for node in kept.session("cli:a").path()] == ["q", "a"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_store_in_memory_survives_a_process_fork() -> None:
    script = (
        "import os, bough\n"
        "store = bough.connect(':memory:')\n"
        "store.session('cli:a').save_turn([bough.user('q'), bough.assistant('a')])\n"
        "child = os.fork()\n"
        "if not child: os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "print(len(store.session('cli:a').path()))\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
