"""Bytes on disk: of a long conversation, and of one picture that is sent repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import bough
from bench.measure import Result, Scale
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import PICTURE, Conversation, content_bytes, conversation, dialog

KEY = "cli:bench"
SENT = 40


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    talk = conversation(scale.long)
    content, pictures = content_bytes(talk), repeated_bytes(talk)
    mine, theirs = stored(directory / "talk", talk)
    name = f"bytes on disk of {scale.long:,} messages, to their content"
    yield Result(name, mine / content, "", at_most=1.2, detail=f"{mine / content:.2f} : {theirs / content:.2f}")
    unique = content - pictures
    name = "the same, counting no picture twice"
    yield Result(name, mine / unique, "", at_most=1.2, detail=f"{mine / unique:.2f} : {theirs / unique:.2f}")

    picture = bough.Media("image", "image/png", Random(0).randbytes(PICTURE))
    again = [[bough.user("Look.", picture), bough.assistant("I see.")] for _ in range(SENT)]
    mine, theirs = stored(directory / "picture", again)
    empty, _ = stored(directory / "empty", [[bough.user("Look."), bough.assistant("I see.")] for _ in range(SENT)])
    name = f"one picture sent {SENT} times, to its bytes"
    detail = f"{(mine - empty) / PICTURE:.2f} : {(theirs - empty) / PICTURE:.2f}"
    yield Result(name, (mine - empty) / PICTURE, "", at_most=1.1, detail=detail)


def stored(stem: Path, talk: Conversation) -> tuple[int, int]:
    """The bytes of the same conversation in bough's file and in the raw one."""
    mine, theirs = stem.with_suffix(".db"), stem.with_suffix(".raw")
    with bough.connect(mine) as store:
        store.session(KEY).record(dialog(talk))
    raw = Raw(theirs)
    raw.session(KEY)
    raw.load(KEY, prepared(talk))
    raw.close()
    return mine.stat().st_size, theirs.stat().st_size


def repeated_bytes(talk: Conversation) -> int:
    """The bytes of repeated pictures."""
    pictures = [
        block.data or b"" for message in dialog(talk) for block in message.blocks if isinstance(block, bough.Media)
    ]
    return sum(map(len, pictures)) - sum(map(len, set(pictures)))
