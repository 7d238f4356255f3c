"""Every command that writes, killed after each of its changes of a file: the store is sound, and the next run goes on.

The kill comes from the library that records system calls, right after a write, truncate, sync, rename or delete. What
serves until it is stopped is killed at random moments in tests/server/test_killed.py and
tests/channels/test_recovery.py.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import bough
from bough.server.access import tokens
from tests.cli.history import fill
from tests.db.test_older_stores import unpacked

from .checks import assert_file_sound
from .power import SEED, memory
from .recorded import calls_in, compiled

__all__ = ["memory"]

ROOT = Path(__file__).parents[2]
HOME = "home"
STORE = "chats.db"


@dataclass(frozen=True)
class Command:
    """A command that writes, in the directory that `prepare` makes. `{name}` is the id of a message."""

    line: str
    stdin: str = ""
    atomic: bool = True
    """Whether what it does to the store is one step; else a repetition completes it."""
    repeats: bool = False
    """Whether a repetition does it once more: asks again."""
    store: str = STORE
    makes: tuple[str, ...] = ()
    """Files that are there when they are complete, and only then."""

    @property
    def name(self) -> str:
        return self.line.replace("{", "").replace("}", "")


COMMANDS = [
    Command("import chats.json", atomic=False),
    Command("export --all -o out.jsonl", makes=("out.jsonl",)),
    Command("export --all -o out.sqlite", makes=("out.sqlite",)),
    Command("export cli:garden -f html -o out.html", makes=("out.html",)),
    Command("db copy chats.db copy.db", atomic=False, store="copy.db"),
    Command("db migrate", atomic=False, store="old.db"),
    Command("db vacuum", atomic=False),
    Command("db verify --repair", atomic=False),
    Command("db backup backup.db", makes=("backup.db",)),
    Command("chat -n", stdin="one\ntwo\n", atomic=False, repeats=True),
    Command("run what is an oak", atomic=False, repeats=True),
    Command("clean -d 0 -y", atomic=False),
    Command("clean --trash -d 0 -y", atomic=False),
    Command("delete cli:garden"),
    Command("delete {capital} --cascade"),
    Command("restore cli:gone"),
    Command("undo"),
    Command("fork {capital} --session forked"),
    Command("label {capital} chosen"),
    Command("title cli:garden Ashes"),
    Command("pin {capital}"),
    Command("tokens create somebody"),
    Command("keys set openai --file", stdin="sk-0123456789abcdef\n", makes=(".config/bough/keys.json",)),
    Command("config set run.model scripted:other", makes=(".config/bough/config.toml",)),
]


def prepare(directory: Path) -> dict[str, str]:
    """A home with a history, something in the trash, files to import, and a store of an older version."""
    home = directory / HOME
    home.mkdir(parents=True)
    ids = fill(home / STORE)
    with bough.connect(home / STORE) as store:
        store.session("cli:gone").save_turn([bough.user("leave"), bough.assistant("gone")])
        store.delete_session("cli:gone")
        store.label(ids["loose"], "first")
    unpacked(3, home / "old.db")
    conversations = [
        {"id": f"c{number}", "messages": [{"role": "user", "content": f"ask {number}"},
                                          {"role": "assistant", "content": f"say {number} " + "long " * 900}]}
        for number in range(40)
    ]  # fmt: skip
    (home / "chats.json").write_text(json.dumps(conversations))
    (home / "script").write_text("An oak is a tree.\nYes.\n")
    return ids


class Runner:
    """Runs command lines in directories, with the recorder loaded."""

    def __init__(self, library: Path, ids: dict[str, str]) -> None:
        self.ids = ids
        env = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.reliability.command_runner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=env | {"LD_PRELOAD": str(library), "LANG": "C.UTF-8", "TZ": "UTC"},
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.orders, self.answers = self.process.stdin, self.process.stdout

    def __call__(self, command: Command, place: Path, kill: int = 0) -> int:
        """Run a command in the home of a place, killed after so many operations; returns its status."""
        home = place / HOME
        more = {"HOME": str(home), "BOUGH_DB": str(home / (command.store if command.store != "copy.db" else STORE)),
                "BOUGH_MODEL": "scripted:script", "RECORD_DIRECTORY": str(home), "RECORD_FILE": str(place / "record"),
                "RECORD_KILL": str(kill)}  # fmt: skip
        words = [word.format(**self.ids) for word in command.line.split(" ")]
        order = {"words": words, "directory": str(home), "environment": more, "stdin": command.stdin}
        self.orders.write(json.dumps(order).encode() + b"\n")
        self.orders.flush()
        return int(self.answers.readline())

    def close(self) -> None:
        self.orders.close()
        self.process.wait(60)
        self.answers.close()


@dataclass
class Bench:
    """A home to start from, and what runs commands in copies of it."""

    template: Path
    work: Path
    run: Runner

    def copy(self, name: str) -> Path:
        place = self.work / name
        shutil.copytree(self.template, place)
        return place


@pytest.fixture
def bench(memory: Path) -> Iterator[Bench]:
    template = memory.resolve() / "template"
    runner = Runner(compiled(memory), prepare(template))
    yield Bench(template, memory.resolve(), runner)
    runner.close()


def state_of(path: Path) -> dict[str, Any]:
    """Everything in a store but ids and times; checks that it is sound and that no dialog has a part of a turn."""
    if not path.exists():
        return {}
    with bough.connect(path) as store:
        assert store.verify() == []
        assert store.turns(status="running") == []
        complete = {turn.id for turn in store.turns(status="complete")}
        paths = {info.key: store.session(info.key).path() for info in store.sessions()}
        assert {node.turn_id for path_ in paths.values() for node in path_ if node.turn_id} <= complete
        found = {
            "sessions": {info.key: info.title for info in store.sessions()},
            "dialogs": {key: [node.message for node in path_] for key, path_ in paths.items()},
            "messages": sorted(repr((node.message, node.label)) for node in store.list_messages()),
            "trash": len(store.trash()),
            "pins": len(store.pins()),
            "tokens": [token.name for token in tokens.all_of(store)],
        }
    assert_file_sound(path)
    return found


def operations(place: Path) -> int:
    """How many operations of a run were recorded."""
    return sum(1 for _ in calls_in(place / "record"))


def kill_often(bench: Bench, command: Command, kills: int, rng: random.Random) -> int:
    """Kills a command after operations that are spread over its run; returns how often."""
    place = bench.copy("whole")
    before = state_of(place / HOME / command.store) if command.store == STORE else {}
    status = bench.run(command, place)
    assert status == 0, (place / "err").read_text()
    after, files, total = state_of(place / HOME / command.store), made(command, place), operations(place)
    assert total >= 3, "the command has written nothing"
    assert all(files.values()), f"{command.name} has not made {files}"
    shutil.rmtree(place)
    chosen = rng.sample(range(1, total), min(kills, total - 1))
    for at in chosen:
        place = bench.copy("killed")
        status = bench.run(command, place, at)
        assert status == -signal.SIGKILL, f"{command.name}: after operation {at} of {total}: status {status}"
        try:
            check(bench, command, place, before, after, files)
        except (AssertionError, bough.BoughError) as error:
            error.add_note(f"{command.name}, killed after operation {at} of {total}; again with BOUGH_SEED={SEED}")
            raise
        shutil.rmtree(place)
    return len(chosen)


def made(command: Command, place: Path) -> dict[str, bytes | None]:
    """The files that the command makes, if they are there."""
    paths = {name: place / HOME / name for name in command.makes}
    return {name: path.read_bytes() if path.exists() else None for name, path in paths.items()}


def check(
    bench: Bench, command: Command, place: Path, before: dict[str, Any], after: dict[str, Any], files: dict[str, Any]
) -> None:
    """What a kill has left, and what the next run makes of it."""
    store = place / HOME / command.store
    if command.store == STORE and (command.atomic or command.makes):
        killed = state_of(store)
        assert killed in (before, after), "half of it was done"
        if killed == after and not command.makes:
            return
    for name, content in made(command, place).items():
        if content is not None:
            assert_whole(name, content, files[name])
            (place / HOME / name).unlink()  # a repetition refuses to replace it
    status = bench.run(command, place)
    assert status == 0, (place / "err").read_text()
    now = state_of(store)
    if command.repeats:
        assert_asked_again(before, after, now)
    else:
        assert now == after
    for name, content in made(command, place).items():
        assert content is not None
        assert_whole(name, content, files[name])


def assert_whole(name: str, content: bytes, expected: bytes) -> None:
    """A file under its final name is complete: as long as that of a run that nobody disturbed, or the same."""
    if name.endswith((".jsonl", ".html")):
        assert len(content.splitlines()) == len(expected.splitlines()), f"{name} is not whole"
    else:
        assert len(content) == len(expected), f"{name} is not whole"


def assert_asked_again(before: dict[str, Any], after: dict[str, Any], now: dict[str, Any]) -> None:
    """All dialogs from before are there, and beyond them only whole questions with their answers."""
    for key, path in before["dialogs"].items():
        assert now["dialogs"][key][: len(path)] == path
    added = [message for message in after["messages"] if message not in before["messages"]]
    assert set(added) <= set(now["messages"])


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_killed_command_leaves_a_sound_store_and_is_completed_by_the_next_run(bench: Bench, command: Command) -> None:
    assert kill_often(bench, command, 2, random.Random(SEED)) == 2


@pytest.mark.soak
def test_every_command_killed_after_any_of_its_operations_leaves_a_sound_store(bench: Bench) -> None:
    kills = {command.name: kill_often(bench, command, 220, random.Random(SEED)) for command in COMMANDS}
    print(kills)
    assert sum(kills.values()) >= 2000
