"""Runs in real processes, interrupted by Ctrl+C and SIGKILL."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bough
from bough import Store
from bough.agent import Agent, run
from bough.storage.lookup import number
from tests.agent.fake_provider import FakeProvider, FakeReply

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def talk(place: Path) -> Iterator[Callable[[str], subprocess.Popen[str]]]:
    """Starts a process that talks; it is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(what: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.agent.interrupted_run", str(place), what],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def read_until(process: subprocess.Popen[str], line: str) -> None:
    assert process.stdout is not None
    for said in process.stdout:
        if said.strip() == line:
            return
    raise AssertionError(f"the process ended before it said {line!r}")


def test_ctrl_c_in_mid_stream_keeps_the_partial_reply(
    talk: Callable[[str], subprocess.Popen[str]], place: Path
) -> None:
    process = talk("stream")
    read_until(process, "three")
    process.send_signal(signal.SIGINT)
    read_until(process, "interrupted")
    assert process.wait(30) == 0
    with bough.connect(place) as store:
        (info,) = store.turns("cli:default")
        _, half = store.path(info.last_id)
        assert (info.status, info.error) == ("interrupted", "KeyboardInterrupt")
        assert (half.message.text, half.message.error) == ("one two three", True)
        assert store.session("cli:default").head is None


def test_ctrl_c_in_a_tool_stops_it_and_keeps_earlier_results(
    talk: Callable[[str], subprocess.Popen[str]], place: Path
) -> None:
    process = talk("tool")
    read_until(process, "sawing")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert set(out.split("\n")) >= {"interrupted", "saw stopped"}
    with bough.connect(place) as store:
        (info,) = store.turns("cli:default")
        results = [result for node in store.path(info.last_id) for result in node.message.results]
        assert [(result.call_id, result.error) for result in results] == [("c1", False), ("c2", True)]
        assert results[1].text.startswith("Interrupted before it was done.")


def test_sigkill_in_mid_stream_loses_at_most_the_last_second(
    talk: Callable[[str], subprocess.Popen[str]], place: Path
) -> None:
    process = talk("stream")
    read_until(process, "three")
    with bough.connect(place) as store:
        wait_for_sketch(store, "three")
        process.kill()
        process.wait(30)
    with bough.connect(place) as store:
        (info,) = store.turns("cli:default")
        assert (info.status, info.error) == ("interrupted", "The writer went away.")
        assert store.path(info.last_id)[-1].message.text == "one two three"
        done = run(Agent(FakeProvider("four")), store.session("cli:default"), resume=info.id)
        assert (done.status, done.text) == ("complete", "four")


def wait_for_sketch(store: Store, word: str) -> None:
    """Until what has come is in the store, although nothing more comes."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        (info,) = store.turns("cli:default")
        row = store.db.row("sketch", number(store.db, info.id))
        if row is not None and word in row[0]:
            return
        time.sleep(0.02)
    raise AssertionError("nothing was kept")


def test_the_partial_reply_is_removed_when_the_reply_is_complete(store: Store) -> None:
    session = store.session("cli:default")

    def wait(place: int) -> None:
        if place == 1:
            wait_for_sketch(store, "one")

    done = run(Agent(FakeProvider(FakeReply("one two", before=wait))), session, "count")
    assert [node.message.text for node in session.path()] == ["count", "one two"]
    assert done.status == "complete"
