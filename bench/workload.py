"""Conversations for the measurements: the same on every machine, and as compressible as real ones.

Prose comes from the standard library's help topics and code from its sources, cut at random places with a fixed seed;
pictures are random bytes, as incompressible as a real picture is. The user writes about 200 bytes, the assistant about
1.5 KB; every third turn has a tool call and a result of about 4 KB; one turn in 150 is heavy: a tool's output of
100 KB, or a picture of 200 KB, and every second picture was sent before.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from functools import cache
from itertools import count, islice
from pathlib import Path

from bough import Media, Message, Text, ToolCall, ToolResult, assistant, tool_call, tool_result, user

SOURCES = (
    "argparse",
    "ast",
    "datetime",
    "doctest",
    "inspect",
    "pathlib",
    "pickle",
    "subprocess",
    "tarfile",
    "typing",
    "zipfile",
)
HEAVY = 150
OUTPUT = 100_000
PICTURE = 200_000

Conversation = list[list[Message]]
"""Turns, and the messages of each."""


@cache
def prose() -> str:
    from pydoc_data.topics import topics

    return "\n".join(topics.values())


@cache
def code() -> str:
    folder = Path(os.__file__).parent
    return "\n".join(file.read_text("utf-8") for name in SOURCES if (file := folder / f"{name}.py").exists())


def turns(seed: int = 0) -> Iterator[list[Message]]:
    """An endless conversation."""
    rng = random.Random(seed)
    for number in count():
        yield list(_turn(rng, number))


def _turn(rng: random.Random, number: int) -> Iterator[Message]:
    question = _cut(rng, prose(), 200)
    kind, place = divmod(number % (2 * HEAVY), HEAVY)
    heavy = place == 20
    if heavy and kind == 1:
        yield user(question, Media("image", "image/png", picture(rng)))
    else:
        yield user(question)
    if number % 3 == 2 or (heavy and kind == 0):
        call = f"call_{rng.getrandbits(96):024x}"
        arguments = json.dumps({"path": f"src/{rng.choice(SOURCES)}.py", "pattern": _cut(rng, code(), 40)})
        yield assistant(_cut(rng, prose(), 150), tool_call(call, "read_file", arguments))
        yield tool_result(call, _cut(rng, code(), OUTPUT if heavy else 4_000))
    yield assistant(_cut(rng, prose(), 1_500))


def picture(rng: random.Random) -> bytes:
    """With equal probability a new picture or one of three."""
    return random.Random(rng.choice((rng.random(), rng.randrange(3)))).randbytes(PICTURE)


def _cut(rng: random.Random, text: str, size: int) -> str:
    length = min(int(size * rng.uniform(0.5, 1.5)), len(text) // 2)
    start = rng.randrange(len(text) - length)
    return text[start : start + length]


def conversation(messages: int, seed: int = 0) -> Conversation:
    """Whole turns, with at least this many messages."""
    found, total = [], 0
    for turn in turns(seed):
        if total >= messages:
            break
        found.append(turn)
        total += len(turn)
    return found


def some_turns(number: int, seed: int = 0) -> Conversation:
    return list(islice(turns(seed), number))


def dialog(talk: Conversation) -> list[Message]:
    return [message for turn in talk for message in turn]


def content_bytes(talk: Conversation) -> int:
    """The size of the content; a picture that was sent twice counts twice."""
    return sum(_size(block) for message in dialog(talk) for block in message.blocks)


def _size(block: object) -> int:
    match block:
        case Text():
            return len(block.text.encode())
        case ToolCall():
            return len(block.name) + len(block.arguments.encode())
        case ToolResult():
            return sum(map(_size, block.content))
        case Media():
            return len(block.data or b"")
    return 0
