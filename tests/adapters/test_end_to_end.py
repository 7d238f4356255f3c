"""Each adapter with its SDK and a loopback model: run, kill, resume, fork, search, cost; and several SDKs in a row."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.db import StrPath
from tests.adapters.model import GEMINI, MODEL, Model, model
from tests.adapters.programs import NAMES

SHARED = ["openai_agents", "langgraph", "agent_framework", "litellm"]
"""SDKs that let two processes lead one conversation at the same time."""
UNCOUNTED = ["llama_index"]
"""SDKs that do not tell their stores what a reply took."""

Ask = Callable[[StrPath, str, str, str], str]


@pytest.fixture
def server() -> Iterator[Model]:
    with model() as served:
        yield served


@pytest.fixture(params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(name: str) -> Ask:
    return program(name)


def program(name: str) -> Ask:
    found: Ask = import_module(f"tests.adapters.programs.{name}").ask
    return found


def key_of(name: str, id: str) -> str:
    """The key of the session of bough that an SDK's session is."""
    key: Callable[[str], str] = getattr(import_module(f"tests.adapters.programs.{name}"), "key", str)
    return key(id)


def process(name: str, *args: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.adapters.programs", name, *map(str, args)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def texts(store: bough.Store, key: str) -> list[str]:
    return [node.message.text for node in store.session(key).path() if node.message.text]


def test_a_run_is_readable_searchable_and_priced(name: str, ask: Ask, server: Model, somewhere: StrPath) -> None:
    key = key_of(name, "s")
    assert ask(str(somewhere), server.address, "s", "How is it?") == "Answer to How is it?"
    assert ask(str(somewhere), server.address, "s", "And now?") == "Answer to And now?"
    server.check()
    with bough.connect(somewhere) as store:
        session = store.session(key)
        roles = [node.role for node in session.path() if node.role != "system"]
        assert roles == ["user", "assistant", "tool_result", "assistant"] * 2
        assert [hit.session for hit in store.search("calm")] == [key, key]
        assert len(session.turns()) == 2
        assert store.verify(unreachable=True) == []
        if name in UNCOUNTED:
            return
        (total,) = [total for total in session.usage(by="model") if total.name]
        model = GEMINI if name == "google_adk" else MODEL
        assert (total.name, total.usage.input_tokens, total.usage.output_tokens) == (model, 40, 20)
        assert total.usage.cost


def test_a_killed_run_loses_nothing_and_another_process_goes_on(name: str, server: Model, tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    program(name)(str(where), server.address, "s", "One?")
    with bough.connect(where) as store:
        before = texts(store, key_of(name, "s"))
    server.holds = True
    with process(name, where, server.address, "s", "Two?") as running:
        assert server.held.wait(60)
        running.send_signal(signal.SIGKILL)
    server.holds = False
    with process(name, where, server.address, "s", "Three?") as running:
        out, errors = running.communicate(timeout=60)
    assert out == "Answer to Three?\n", errors
    server.check()
    with bough.connect(where) as store:
        after = texts(store, key_of(name, "s"))
        assert after[: len(before)] == before
        assert after[-1] == "Answer to Three?"
        assert store.verify(unreachable=True) == []


def test_a_fork_is_continued_by_the_sdk_and_leaves_the_original(
    name: str, ask: Ask, server: Model, tmp_path: Path
) -> None:
    where = str(tmp_path / "a.db")
    key, other = key_of(name, "s"), key_of(name, "other")
    for question in ("One?", "Two?"):
        ask(where, server.address, "s", question)
    with bough.connect(where) as store:
        session = store.session(key)
        first = next(node for node in session.path() if node.message.text == "Answer to One?")
        before = texts(store, key)
        session.fork(at=first.id, key=other)
    ask(where, server.address, "other", "Else?")
    server.check()
    with bough.connect(where) as store:
        assert texts(store, key) == before
        assert texts(store, other)[0] == "One?"
        assert texts(store, other)[-1] == "Answer to Else?"
        assert "Two?" not in texts(store, other)
        assert len(store.forest()) == 1


@pytest.mark.parametrize(("first", "second"), list(permutations(NAMES, 2)))
def test_a_conversation_is_continued_through_another_sdk(
    first: str, second: str, server: Model, tmp_path: Path
) -> None:
    where = str(tmp_path / "a.db")
    program(first)(where, server.address, "s", "One?")
    assert program(second)(where, server.address, "s", "Two?") == "Answer to Two?"
    server.check()
    assert "Answer to One?" in str(server.requests()[-1][1])
    assert program(first)(where, server.address, "s", "Three?") == "Answer to Three?"
    server.check()
    assert "Answer to Two?" in str(server.requests()[-1][1])
    with bough.connect(where) as store:
        assert [text for text in texts(store, "s") if text.endswith("?")] == [
            "One?", "Answer to One?", "Two?", "Answer to Two?", "Three?", "Answer to Three?"
        ]  # fmt: skip


# Elsewhere the second writer gets an error and loads again, or, with LlamaIndex, answers the words of the first.
@pytest.mark.parametrize("name", [name for name in NAMES if name in SHARED])
def test_two_processes_on_one_session_lose_nothing(name: str, server: Model, tmp_path: Path) -> None:
    where = tmp_path / "a.db"
    program(name)(str(where), server.address, "s", "First?")
    asked = [[f"{letter}{number}?" for number in range(3)] for letter in "AB"]
    running = [process(name, where, server.address, "s", *questions) for questions in asked]
    for one, questions in zip(running, asked, strict=True):
        out, errors = one.communicate(timeout=120)
        assert out.splitlines() == [f"Answer to {question}" for question in questions], errors
    with bough.connect(where) as store:
        said = [node.message.text for node in store.list_messages() if node.role in ("user", "assistant")]
        for question in [*asked[0], *asked[1]]:
            assert question in said
            assert f"Answer to {question}" in said
        assert store.verify(unreachable=True) == []
