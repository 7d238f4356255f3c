"""One of several writers: append turns for some seconds and print the counts as JSON.

`python -m bench.write_many bough|raw FILE KEY SECONDS SEED`. It prints `ready` and starts when it reads a line.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from time import perf_counter

import apsw

import bough
from bench.append import REPLY
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import some_turns

TURNS = 300


def main(name: str, file: str, key: str, seconds: str, seed: str) -> None:
    talk = some_turns(TURNS, seed=int(seed))
    steps: list[tuple[int, Callable[[], object]]]
    if name == "bough":
        session = bough.connect(file).session(key)
        steps = [(len(turn), lambda turn=turn: session.save_turn(turn, **REPLY)) for turn in talk]  # type: ignore[misc]
    else:
        raw = Raw(Path(file))
        steps = [(len(turn), lambda turn=turn: raw.append(key, turn)) for turn in prepared(talk)]  # type: ignore[misc]
    print("ready", flush=True)
    sys.stdin.readline()
    print(json.dumps(write(steps, float(seconds))))


def write(steps: list[tuple[int, Callable[[], object]]], seconds: float) -> dict[str, float]:
    turns = messages = errors = 0
    longest = 0.0
    end = perf_counter() + seconds
    for length, step in cycle(steps):
        began = perf_counter()
        if began >= end:
            break
        try:
            step()
            turns, messages = turns + 1, messages + length
        except (bough.BoughError, apsw.Error):
            errors += 1
        longest = max(longest, perf_counter() - began)
    return {"turns": turns, "messages": messages, "errors": errors, "longest": longest}


if __name__ == "__main__":
    main(*sys.argv[1:])
