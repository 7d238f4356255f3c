"""Writers killed with SIGKILL at random times: nothing acknowledged is lost, no partial turn is complete."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import bough
from bough import Store, user
from bough.db import StrPath

from .checks import assert_file_sound, assert_sound, position_of, status_of, steps
from .processes import multiprocess

SHARED = "cli:shared"
SEED = int(os.environ.get("BOUGH_SEED", "0")) or random.SystemRandom().randrange(1, 10**9)


@contextmanager
def seeded(seed: int) -> Iterator[random.Random]:
    """Randomness that a failure can be repeated with."""
    try:
        yield random.Random(seed)
    except BaseException as error:
        error.add_note(f"again with BOUGH_SEED={seed}")
        raise


# The writers ---------------------------------------------------------------------------------------------------------


@dataclass
class Log:
    """The acknowledgements of a writer, one atomic line each."""

    pipe: int

    def __call__(self, **said: Any) -> None:
        os.write(self.pipe, json.dumps(said).encode() + b"\n")


def words_of_a_whole_turn(turn: str, number: int) -> list[bough.Message]:
    return steps(turn, 2 + number % 4, "x" * (number % 3 * 3000))


def words_of_steps(turn: str, number: int) -> list[bough.Message]:
    return steps(turn, 3 + number % 4)


def save_whole_turns(store: Store, key: str, name: str, log: Log) -> None:
    session = store.session(key)
    for number in count():
        turn = f"{name}.{number}"
        log(trying=turn, session=key)
        ids = session.save_turn(words_of_a_whole_turn(turn, number), idempotency_key=turn)
        log(done=turn, session=key, ids=ids)


def save_step_by_step(store: Store, key: str, name: str, log: Log) -> None:
    session = store.session(key)
    for number in count():
        turn_name = f"{name}.{number}"
        first, *rest = words_of_steps(turn_name, number)
        log(trying=turn_name, session=key)
        with session.turn(first, idempotency_key=turn_name) as turn:
            log(opened=turn_name, session=key, ids=[turn.id])
            ids = [turn.id]
            for message in rest:
                ids += turn.add(message)
                log(added=turn_name, session=key, ids=ids)
        log(done=turn_name, session=key, ids=ids)


def record_dialogs(store: Store, key: str, name: str, log: Log) -> None:
    session = store.session(key)
    dialog: list[bough.Message] = []
    for number in count():
        turn = f"{name}.{number}"
        dialog += steps(turn, 2)
        log(trying=turn, session=key)
        ids = session.record(dialog)
        log(done=turn, session=key, ids=ids)


Writer = Callable[[Store, str, str, Log], None]
WRITERS: list[tuple[Writer, str]] = [
    (save_whole_turns, "own"),
    (save_step_by_step, "own"),
    (save_whole_turns, "shared"),
    (save_step_by_step, "shared"),
    (record_dialogs, "own"),
]

WORDS: dict[Writer, Callable[[str, int], list[bough.Message]]] = {
    save_whole_turns: words_of_a_whole_turn,
    save_step_by_step: words_of_steps,
}
"""What a writer says in a turn, which it would say again."""


def write_until_killed(path: StrPath, writer: Writer, key: str, name: str, pipe: int) -> None:
    log = Log(pipe)
    with bough.connect(path, patience=60) as store:
        log(ready=name)
        writer(store, key, name, log)


@dataclass
class Said:
    """The acknowledgements of all rounds."""

    done: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    """session → turn → ids, in the order of acknowledgement"""
    unfinished: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    """turn → session, the ids acknowledged when its writer was killed"""
    unknown: list[tuple[str, str]] = field(default_factory=list)
    """(session, turn) that were tried and not acknowledged"""
    kills: int = 0

    def hear(self, lines: list[dict[str, Any]]) -> None:
        trying: dict[str, str] = {}
        for line in lines:
            if turn := line.get("trying"):
                trying[turn] = line["session"]
            elif turn := line.get("done"):
                self.done.setdefault(line["session"], {})[turn] = line["ids"]
                self.unfinished.pop(turn, None)
                trying.pop(turn)
            elif turn := line.get("opened") or line.get("added"):
                self.unfinished[turn] = line["session"], line["ids"]
        self.unknown += [(session, turn) for turn, session in trying.items()]


def kill_some(path: StrPath, round_: str, rng: random.Random, said: Said, writers: int) -> None:
    """Starts writers, kills each at a moment of its own, and notes what they had said."""
    started = []
    for place in range(writers):
        writer, where = WRITERS[place % len(WRITERS)]
        name = f"{round_}w{place}"
        read, write = os.pipe()
        key = SHARED if where == "shared" else f"cli:{name}"
        process = multiprocess.Process(target=write_until_killed, args=(path, writer, key, name, write), daemon=True)
        process.start()
        os.close(write)
        started.append((process, read))
    first = [os.read(read, 65_536) for _, read in started]  # all are ready, or have said why not
    for process, _ in rng.sample(started, len(started)):
        time.sleep(rng.random() * 0.012)
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        said.kills += 1
    for heard, (process, read) in zip(first, started, strict=True):
        process.join()
        assert process.exitcode == -signal.SIGKILL, "a writer ended by itself: it failed"
        with os.fdopen(read, "rb") as pipe:
            lines = (heard + pipe.read()).split(b"\n")
        said.hear([json.loads(line) for line in lines if line.endswith(b"}")])


# The checker ---------------------------------------------------------------------------------------------------------


def check(path: StrPath, said: Said) -> None:
    with bough.connect(path) as store:
        found = assert_sound(store)
        for key, turns in said.done.items():
            there = [name for name in found[key] if name in turns]
            assert sorted(there) == sorted(turns), f"acknowledged turns of {key} are lost: {turns.keys() - set(there)}"
            on_path = {node.id: position_of(node)[0] for node in store.session(key).path()}
            for turn, ids in turns.items():
                assert [on_path.get(id_) for id_ in ids] == [turn] * len(ids)
        statuses = {info.id: info.status for info in store.turns()}
        for turn, (key, ids) in said.unfinished.items():
            assert [position_of(node)[:2] for node in store.get_messages(ids)] == [(turn, at) for at in range(len(ids))]
            status = statuses[ids[0]]
            # Its last acknowledgement may be what the kill swallowed: then it is complete.
            assert status in ("interrupted", "complete")
            if status == "interrupted":
                assert ids[0] in [info.id for info in store.session(key).turns(status="interrupted")]
                assert turn not in found[key]
            else:
                assert turn in found[key]
    assert_file_sound(path)


def say_once_more(session: bough.Session, turn: str) -> list[str]:
    """Says a turn again as its writer would: under its key, or as the dialog that it keeps."""
    writer, _, number = turn.rpartition(".")
    write, _ = WRITERS[int(writer.rpartition("w")[2]) % len(WRITERS)]
    if write is not record_dialogs:
        return session.save_turn(WORDS[write](turn, int(number)), idempotency_key=turn)
    session.record([message for before in range(int(number) + 1) for message in steps(f"{writer}.{before}", 2)])
    return [node.id for node in session.path() if position_of(node)[0] == turn]


def say_again(path: StrPath, said: Said) -> None:
    """Retry a write that was not acknowledged, as an application would."""
    with bough.connect(path) as store:
        for key, turn in said.unknown:
            session = store.session(key)
            for _ in range(2):
                said.done.setdefault(key, {})[turn] = say_once_more(session, turn)
            same = [node for node in session.path() if position_of(node)[0] == turn and position_of(node)[1] == 0]
            assert len(same) == 1, f"{turn} was said {len(same)} times"
    said.unknown.clear()
    said.unfinished.clear()


def rounds(places: Sequence[StrPath], seed: int, rounds_: int, writers: int) -> Said:
    total = Said()
    with seeded(seed) as rng:
        for file, path in enumerate(places):
            said = Said()
            bough.connect(path).close()
            for round_ in range(rounds_):
                kill_some(path, f"f{file}r{round_}", rng, said, writers)
                check(path, said)
                # Recorded dialogs need no key: saying one again is what `record` is for.
                said.unknown = [(key, turn) for key, turn in said.unknown if not turn.split(".")[0].endswith("w4")]
                say_again(path, said)
            check(path, said)
            total.kills += said.kills
            total.done.update({f"{file} {key}": turns for key, turns in said.done.items()})
    return total


def files(directory: Path, count: int) -> list[Path]:
    return [directory / f"{number}.db" for number in range(count)]


def test_killed_writers_lose_nothing_acknowledged_and_leave_no_partial_turn_as_complete(tmp_path: Path) -> None:
    said = rounds(files(tmp_path, 6), SEED, rounds_=9, writers=5)
    assert said.kills == 270
    assert sum(map(len, said.done.values())) > said.kills  # they did write


def test_killed_clients_of_a_server_lose_nothing_acknowledged(postgres: str, namespace: str) -> None:
    said = rounds([f"{postgres}?namespace={namespace}"], SEED, rounds_=5, writers=5)
    assert said.kills == 25


@pytest.mark.soak
def test_thousands_of_kills_lose_nothing_acknowledged(tmp_path: Path) -> None:
    said = rounds(files(tmp_path, 40), SEED, rounds_=10, writers=10)
    assert said.kills == 4000


# Openings ------------------------------------------------------------------------------------------------------------


def open_and_save(path: Path, pipe: int) -> None:
    with bough.connect(path, patience=60) as store:
        store.session("cli:a").save_turn(steps("first", 2), idempotency_key="first")
        os.write(pipe, b"done")
        time.sleep(60)


def test_a_process_killed_while_creating_the_file_leaves_a_valid_file(tmp_path: Path) -> None:
    acknowledged = 0
    with seeded(SEED) as rng:
        for number in range(60):
            path = tmp_path / f"{number}.db"
            read, write = os.pipe()
            process = multiprocess.Process(target=open_and_save, args=(path, write), daemon=True)
            process.start()
            os.close(write)
            time.sleep(rng.random() * 0.02)
            process.kill()
            process.join()
            with os.fdopen(read, "rb") as pipe:
                acked = pipe.read() == b"done"
            acknowledged += acked
            with bough.connect(path) as store:
                found = assert_sound(store)
                assert found.get("cli:a", []) in ([["first"]] if acked else [[], ["first"]])
                store.session("cli:a").save_turn(steps("first", 2), idempotency_key="first")
                assert assert_sound(store) == {"cli:a": ["first"]}
            assert_file_sound(path)
    assert acknowledged < 60  # some were killed before they were done


# Leases --------------------------------------------------------------------------------------------------------------


def hold_a_turn(path: StrPath, pipe: int) -> None:
    store = bough.connect(path)
    turn = store.session("cli:a").turn(user("held 0/2"))
    os.write(pipe, turn.id.encode())
    time.sleep(600)


def start_holder(path: StrPath) -> tuple[Any, str]:
    read, write = os.pipe()
    process = multiprocess.Process(target=hold_a_turn, args=(path, write), daemon=True)
    process.start()
    os.close(write)
    turn = os.read(read, 100).decode()
    os.close(read)
    return process, turn


def test_the_session_of_a_killed_writer_is_taken_over_by_an_open_store(somewhere: StrPath) -> None:
    with bough.connect(somewhere) as store:
        session = store.session("cli:a")
        process, turn = start_holder(somewhere)
        with pytest.raises(bough.Busy):
            session.save_turn(steps("too-early", 2), wait=0)
        process.kill()
        process.join()
        session.save_turn(steps("next", 2), wait=0)
        assert assert_sound(store) == {"cli:a": ["next"]}
        assert [info.id for info in session.turns(status="interrupted")] == [turn]


def test_a_zombie_process_does_not_hold_a_lease(somewhere: StrPath) -> None:
    with bough.connect(somewhere) as store:
        process, turn = start_holder(somewhere)
        os.kill(process.pid, signal.SIGKILL)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has died, and stays in the process table
        try:
            store.session("cli:a").save_turn(steps("next", 2), wait=0)
        finally:
            process.join()
        assert status_of(store, turn) == "interrupted"


def test_a_killed_turn_is_resumed_by_its_id(somewhere: StrPath) -> None:
    bough.connect(somewhere).close()
    process, id_ = start_holder(somewhere)
    process.kill()
    process.join()
    with bough.connect(somewhere) as store:
        assert status_of(store, id_) == "interrupted"
        assert store.session("cli:a").path() == []
        with store.session("cli:a").turn(resume=id_) as turn:
            turn.add(steps("held", 2)[1])
        assert assert_sound(store) == {"cli:a": ["held"]}
