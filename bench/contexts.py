"""Requests: decoding and encoding wire formats, and fitting a long session to a budget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import bough
from bench.measure import Result, Scale, contest, rounds_of
from bench.workload import some_turns
from bough import Message, Save, Session, Store, formats

BUDGET = 8_000
SHORT = 100
BATCH = 1_000


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    messages = [message for turn in some_turns(scale.turns_per_round) for message in turn]
    for name in formats.names():
        if name != "bough.jsonl":
            yield from conversion(name, messages, scale)
    with bough.connect(directory / "context.db") as store:
        long = conversation(store, messages, scale.indexed)
        short = conversation(store, messages, SHORT)
        found = contest(
            scale.rounds,
            lambda _: lambda: long.context("anthropic", BUDGET),
            lambda _: lambda: short.context("anthropic", BUDGET),
        )
    yield Result(
        f"context of {BUDGET:,} tokens at {scale.indexed:,} messages, to that at {SHORT}",
        found.ratio,
        at_most=2.0,
        detail=found.detail(),
    )


def conversion(name: str, messages: list[Message], scale: Scale) -> Iterator[Result]:
    wire = formats.get(name)
    payload = wire.encode(messages).payload
    megabytes = len(json.dumps(payload, default=len)) / 1e6
    writing, reading = rounds_of(
        scale.rounds, lambda _: lambda: wire.encode(messages), lambda _: lambda: wire.decode(payload)
    )
    yield Result(f"encode {name}", megabytes / median(writing), " MB/s")
    yield Result(f"decode {name}", megabytes / median(reading), " MB/s")


def conversation(store: Store, messages: list[Message], count: int) -> Session:
    """A session at the end of `count` messages."""
    parent: str | Save | None = None
    for first in range(0, count, BATCH):
        saves = []
        for place in range(first, min(first + BATCH, count)):
            parent = Save(messages[place % len(messages)], parent)
            saves.append(parent)
        parent = store.save_messages(saves)[-1]
    assert isinstance(parent, str)
    return store.fork(parent)
