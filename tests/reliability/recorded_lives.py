"""Lives of processes whose system calls are recorded: `python -m tests.reliability.recorded_lives ROLE DIRECTORY NAME`.

What is acknowledged is written to the file `said` of the same directory: so it is in the record, at its place.
"""

from __future__ import annotations

import json
import os
import random
import sqlite3
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import bough
from bough.db.sqlite import wal

from .checks import steps

SAID = "said"
STOP = "stop"
STORE = "x.db"
TURNS = 45


class Said:
    """Acknowledgements, one line each."""

    def __init__(self, directory: Path) -> None:
        self.file = os.open(directory / SAID, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def __call__(self, **said: str) -> None:
        os.write(self.file, json.dumps(said).encode() + b"\n")


def writer(directory: Path, name: str) -> None:
    """Saves whole turns, turns step by step, and deletes, in sessions of its own and in one that all share."""
    said = Said(directory)
    with bough.connect(directory / STORE, patience=60) as store:
        for number in range(TURNS):
            turn_name = f"{name}t{number}"
            session = store.session("cli:shared" if number % 4 == 3 else f"cli:{name}")
            messages = steps(turn_name, 2 + number % 4, "x" * (number % 3 * 4000))
            if number % 3:
                session.save_turn(messages, wait=60)
            else:
                with session.turn(messages[0], wait=60) as turn:
                    said(step=turn.id)
                    for message in messages[1:]:
                        for id_ in turn.add(message):
                            said(step=id_)
            said(turn=turn_name, session=session.key)
            if name == "w0" and number % 10 == 9:  # one of them: the trash is compared with the order of deletion
                (gone,) = store.save_messages([bough.Save(bough.user(f"gone{number} 0/1"))])
                store.delete_messages([gone])
                said(deleted=gone)
                store.search("0/2")


def careless_writer(directory: Path, name: str) -> None:
    """A mutant: acknowledges without a sync of the log."""
    wal._sync = lambda _: None
    writer(directory, name)


def opener(directory: Path, name: str) -> None:
    """Opens the store, saves a turn, and closes it, again and again: the last one to close empties the log."""
    said = Said(directory)
    for number in until_stopped(directory):
        with bough.connect(directory / STORE, patience=60) as store:
            turn_name = f"{name}t{number}"
            store.session(f"cli:{name}").save_turn(steps(turn_name, 2), wait=60)
            said(turn=turn_name, session=f"cli:{name}")


def foreign(directory: Path, _: str) -> None:
    """Another SQLite, which knows nothing of bough: reads, copies from the log into the file, and closes."""
    for number in until_stopped(directory):
        connection = sqlite3.connect(directory / STORE, timeout=10)
        try:
            connection.execute("SELECT count(*) FROM messages").fetchone()
            mode = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")[number % 4]
            connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
        except sqlite3.OperationalError:  # locked: others are writing
            pass
        finally:
            connection.close()


def until_stopped(directory: Path) -> Iterator[int]:
    """Numbers, until the file `stop` is there, with short pauses."""
    for number in count():
        if (directory / STOP).exists():
            return
        yield number
        time.sleep(random.random() * 0.02)


ROLES = {work.__name__: work for work in (writer, careless_writer, opener, foreign)}

if __name__ == "__main__":
    role, place, name = sys.argv[1:]
    random.seed(name)
    ROLES[role](Path(place), name)
