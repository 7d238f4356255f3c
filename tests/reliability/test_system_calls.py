"""Power cuts between any two system calls of several processes, one of which is not bough.

Three writers, one that opens and closes, and Python's own sqlite3 as a foreign checkpointer run with a library that
records what they do to the files of one directory. Unlike the cuts of test_power_loss.py these meet many processes,
real shared memory, and a SQLite that is not ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .checks import reopened
from .power import SEED, History, Toll, cut_power, memory
from .processes import PATIENCE
from .recorded import UNRECORDED, Recording, compiled, environment
from .recorded_lives import SAID, STOP, STORE

__all__ = ["memory"]

ROOT = Path(__file__).parents[2]
OTHERS = [("opener", "o"), ("foreign", "f")]


def live(place: Path, library: Path, writers: str = "writer") -> tuple[Recording, History]:
    """Lives of several processes on the files of one directory."""
    directory, record = place.resolve() / "files", place.resolve() / "record"
    directory.mkdir(parents=True)
    env = environment(library, directory, record)

    def start(role: str, name: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "tests.reliability.recorded_lives", role, str(directory), name]
        return subprocess.Popen(command, env=env, cwd=ROOT)

    writing = [start(writers, f"w{number}") for number in range(3)]
    others = [start(role, name) for role, name in OTHERS]
    try:
        codes = [process.wait(PATIENCE) for process in writing]
        (directory / STOP).touch()
        codes += [process.wait(PATIENCE) for process in others]
    finally:
        for process in [*writing, *others]:
            process.kill()
            process.wait()
    assert codes == [0] * 5
    recording = Recording(record)
    assert_complete(recording, directory)
    assert wrote(recording, STORE, others[1].pid), "the foreign SQLite has copied nothing into the file"
    history = heard(recording)
    history.order = reopened(directory / STORE)
    return recording, history


def assert_complete(recording: Recording, directory: Path) -> None:
    """The record explains every byte that is in the directory."""
    there = {
        path.name: path.read_bytes()
        for path in directory.iterdir()
        if path.name != STOP and not path.name.endswith(UNRECORDED)
    }
    assert recording.files() == there


def wrote(recording: Recording, name: str, process: int) -> int:
    """How often a process wrote to a file."""
    inodes = {call.inode for call in recording.ops if call.verb == "o" and call.name == name}
    return sum(call.verb == "w" and call.thread == process and call.inode in inodes for call in recording.ops)


def heard(recording: Recording) -> History:
    """What was acknowledged, after which call."""
    history = History()
    inodes = {call.inode for call in recording.ops if call.verb == "o" and call.name == SAID}
    for at, call in enumerate(recording.ops, start=1):
        if call.verb == "w" and call.inode in inodes:
            match json.loads(call.data):
                case {"turn": turn, "session": session}:
                    history.turns.append((at, session, turn))
                case {"step": id_}:
                    history.steps.append((at, id_))
                case {"deleted": id_}:
                    history.deleted.append((at, id_))
    return history


def cut_many(place: Path, lives: int, cuts: int, writers: str = "writer") -> Toll:
    """Several lives, each cut often."""
    library, total = compiled(place), Toll()
    for number in range(lives):
        recording, history = live(place / str(number), library, writers)
        toll = cut_power(place / str(number), recording, history, cuts, SEED + number)
        total.add(toll)
    return total


def test_power_cuts_between_the_calls_of_several_processes_lose_nothing_acknowledged(memory: Path) -> None:
    toll = cut_many(memory, lives=1, cuts=60)
    assert (toll.cuts, toll.harmed) == (60, 0), f"again with BOUGH_SEED={SEED}: {toll}"


def test_the_check_detects_writers_that_do_not_sync_the_log(memory: Path) -> None:
    toll = cut_many(memory, lives=1, cuts=30, writers="careless_writer")
    assert toll.harmed > 5, f"again with BOUGH_SEED={SEED}: {toll}"


@pytest.mark.soak
def test_thousands_of_power_cuts_between_system_calls_lose_nothing_acknowledged(memory: Path) -> None:
    toll = cut_many(memory, lives=10, cuts=220)
    print(toll)
    assert (toll.cuts, toll.harmed) == (2200, 0), f"again with BOUGH_SEED={SEED}: {toll}"
