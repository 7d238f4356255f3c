"""Other stores of conversations beside bough, in the same run: `make bench PEERS=1`.

Each peer keeps its own defaults (journal, durability, driver). It appends one turn at a time and loads a conversation
with every text read. All figures are ratios to the raw contestant, taken in the same round.
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, Protocol

import bough
from bench.append import REPLY
from bench.loading import read
from bench.measure import Contest, Result, Scale, rounds_of
from bench.process import run
from bench.raw import Raw
from bench.rows import prepared
from bench.workload import Conversation, conversation, dialog, some_turns
from bough import Media, Message, Text, ToolCall, ToolResult

KEY = "cli:bench"


class Peer(Protocol):
    """One conversation in a store of its own."""

    def __init__(self, path: Path) -> None: ...

    def append(self, turn: Any) -> None: ...

    def load(self) -> list[Any]:
        """Every message, with its text."""

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        """The turn in the values of this peer; made before the clock starts."""


class Bough:
    def __init__(self, path: Path) -> None:
        self.session = bough.connect(path).session(KEY)

    def append(self, turn: Any) -> None:
        self.session.save_turn(turn, **REPLY)

    def load(self) -> list[Any]:
        return read(self.session)

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        return turn


class RawPeer:
    def __init__(self, path: Path) -> None:
        self.raw = Raw(path)
        if not self.raw.connection.execute("SELECT 1 FROM sessions").fetchone():
            self.raw.session(KEY)

    def append(self, turn: Any) -> None:
        self.raw.append(KEY, turn)

    def load(self) -> list[Any]:
        return self.raw.path(KEY)

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        return prepared([turn])[0]


class OpenAISession:
    """`SQLiteSession` of the OpenAI Agents SDK: a row of JSON for each item."""

    def __init__(self, path: Path) -> None:
        from agents import SQLiteSession

        self.session = SQLiteSession(KEY, path)
        self.loop = asyncio.new_event_loop()

    def append(self, turn: Any) -> None:
        self.loop.run_until_complete(self.session.add_items(turn))

    def load(self) -> list[Any]:
        return self.loop.run_until_complete(self.session.get_items())

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        return [item for message in turn for item in _items(message)]


class LangGraph:
    """`SqliteSaver` of LangGraph: the whole state at each checkpoint."""

    def __init__(self, path: Path) -> None:
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver

        self.saver = SqliteSaver(sqlite3.connect(path, check_same_thread=False))
        self.config: Any = {"configurable": {"thread_id": KEY, "checkpoint_ns": ""}}
        self.messages: list[Any] = []

    def append(self, turn: Any) -> None:
        from langgraph.checkpoint.base import empty_checkpoint

        self.messages = [*self.messages, *turn]
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": self.messages}
        self.config = self.saver.put(self.config, checkpoint, {}, {})

    def load(self) -> list[Any]:
        found = self.saver.get_tuple({"configurable": {"thread_id": KEY, "checkpoint_ns": ""}})
        return list(found.checkpoint["channel_values"]["messages"])

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        return [_langchain(message) for message in turn]


class Llm:
    """The `LogStore` of llm: a message tree by content hashes."""

    def __init__(self, path: Path) -> None:
        from llm.logs import LogStore
        from sqlite_utils import Database

        self.store = LogStore(Database(path))
        self.tip: str | None = None

    def append(self, turn: Any) -> None:
        self.tip = self.store.ensure_chain(turn, self.tip)

    def load(self) -> list[Any]:
        tip = self.tip or next(self.store.db.query("SELECT hash FROM messages ORDER BY rowid DESC LIMIT 1"))["hash"]
        return self.store.load_chain(tip)

    @staticmethod
    def convert(turn: list[Message]) -> Any:
        return [_llm(message) for message in turn]


PEERS: dict[str, type[Peer]] = {
    "raw": RawPeer,
    "bough": Bough,
    "OpenAI SQLiteSession": OpenAISession,
    "LangGraph SqliteSaver": LangGraph,
    "llm LogStore": Llm,
}


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    yield from appending(scale, directory)
    messages = min(scale.long, 10_000)
    for name, peer in PEERS.items():
        fill(peer(file_of(directory, name, "long")), conversation(messages, seed=1))
    yield from loading(scale, directory, messages)
    yield from starting(scale, directory)
    yield from sizes(scale, directory)


def file_of(directory: Path, name: str, what: str) -> Path:
    return directory / f"{what}-{name.split(maxsplit=1)[0].lower()}.db"


def fill(peer: Peer, talk: Conversation) -> None:
    """Append a conversation; in one call where a peer would write all of it at every turn."""
    if isinstance(peer, LangGraph):
        peer.append(peer.convert(dialog(talk)))
        return
    for turn in talk:
        peer.append(peer.convert(turn))


def compare(rounds: int, works: dict[str, Callable[[int], Any]]) -> Iterator[tuple[str, Contest]]:
    """Every peer beside raw, in turn within each round."""
    times = dict(zip(works, rounds_of(rounds, *works.values()), strict=True))
    for name in works:
        if name != "raw":
            yield name, Contest(times[name], times["raw"])


def appending(scale: Scale, directory: Path) -> Iterator[Result]:
    per = scale.turns_per_round
    talk = some_turns(scale.rounds * per)

    def work(name: str) -> Callable[[int], Any]:
        peer = PEERS[name](file_of(directory, name, "append"))
        turns = [peer.convert(turn) for turn in talk]

        def part(number: int) -> Any:
            def append() -> None:
                for turn in turns[number * per : (number + 1) * per]:
                    peer.append(turn)

            return append

        return part

    for name, found in compare(scale.rounds, {name: work(name) for name in PEERS}):
        yield Result(f"append a turn: {name}, to raw", found.ratio, detail=found.detail(per))


def loading(scale: Scale, directory: Path, messages: int) -> Iterator[Result]:
    def work(name: str) -> Callable[[int], Any]:
        peer = PEERS[name](file_of(directory, name, "long"))
        return lambda _: peer.load

    found = dict(compare(scale.rounds, {name: work(name) for name in PEERS}))
    for name, contest in found.items():
        yield Result(f"load {messages:,} and read every text: {name}, to raw", contest.ratio, detail=contest.detail())
    other = "OpenAI SQLiteSession"
    direct = Contest(found["bough"].mine, found[other].mine)
    name = f"load {messages:,} and read every text: bough, to {other}"
    yield Result(name, direct.ratio, at_most=1.0, detail=direct.detail())


def starting(scale: Scale, directory: Path) -> Iterator[Result]:
    """A new process that opens a store and loads 100 messages, imports included."""
    for name, peer in PEERS.items():
        fill(peer(file_of(directory, name, "start")), conversation(100, seed=2))
    times: dict[str, list[float]] = {name: [] for name in PEERS}
    for _ in range(scale.starts):
        for name in PEERS:
            wall, _ = run("-m", "bench.peers", name, file_of(directory, name, "start"))
            times[name].append(wall)
    for name in PEERS:
        if name != "raw":
            contest = Contest(times[name], times["raw"])
            yield Result(f"a new process loads 100: {name}, to raw", contest.ratio, detail=contest.detail())
    quickest = min((name for name in PEERS if name not in ("raw", "bough")), key=lambda name: median(times[name]))
    direct = Contest(times["bough"], times[quickest])
    name = f"a new process loads 100: bough, to the quickest peer, {quickest}"
    yield Result(name, direct.ratio, at_most=1.0, detail=direct.detail())


def sizes(scale: Scale, directory: Path) -> Iterator[Result]:
    """Bytes on disk after the turns that were appended one by one."""
    files = {name: file_of(directory, name, "append") for name in PEERS}
    raw = on_disk(files["raw"])
    for name, file in files.items():
        if name != "raw":
            size = on_disk(file)
            detail = f"{size / 1e6:,.1f} MB : {raw / 1e6:,.1f} MB"
            turns = scale.rounds * scale.turns_per_round
            yield Result(f"bytes on disk after {turns:,} turns: {name}, to raw", size / raw, detail=detail)


def on_disk(file: Path) -> int:
    return sum(path.stat().st_size for path in file.parent.glob(f"{file.name}*"))


def _items(message: Message) -> Iterator[dict[str, Any]]:
    """A message as items of the Responses API."""
    kind = "output_text" if message.role == "assistant" else "input_text"
    content: list[dict[str, Any]] = []
    for block in message.blocks:
        match block:
            case Text():
                content.append({"type": kind, "text": block.text})
            case Media():
                content.append({"type": "input_image", "image_url": _data_url(block)})
            case ToolCall():
                yield {
                    "type": "function_call",
                    "call_id": block.call_id,
                    "name": block.name,
                    "arguments": block.arguments,
                }
            case ToolResult():
                yield {"type": "function_call_output", "call_id": block.call_id, "output": block.text}
    if content:
        yield {"role": message.role, "content": content}


def _langchain(message: Message) -> Any:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

    result = next((block for block in message.blocks if isinstance(block, ToolResult)), None)
    if result is not None:
        return ToolMessage(result.text, tool_call_id=result.call_id)
    if message.role == "assistant":
        calls = [
            {"id": block.call_id, "name": block.name, "args": json.loads(block.arguments)}
            for block in message.blocks
            if isinstance(block, ToolCall)
        ]
        return AIMessage(message.text, tool_calls=calls)
    media = [block for block in message.blocks if isinstance(block, Media)]
    images: list[str | dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": _data_url(block)}} for block in media
    ]
    return HumanMessage([{"type": "text", "text": message.text}, *images])


def _llm(message: Message) -> Any:
    from llm.models import Attachment
    from llm.parts import AttachmentPart, TextPart, ToolCallPart, ToolResultPart
    from llm.parts import Message as LlmMessage

    parts: list[Any] = []
    for block in message.blocks:
        match block:
            case Text():
                parts.append(TextPart(block.text))
            case Media():
                parts.append(AttachmentPart(Attachment(type=block.mime, content=bytes(block.data or b""))))
            case ToolCall():
                parts.append(ToolCallPart(block.name, json.loads(block.arguments), block.call_id))
            case ToolResult():
                parts.append(ToolResultPart(block.name or "", block.text, block.call_id))
    return LlmMessage({"tool_result": "tool"}.get(message.role, message.role), parts)


def _data_url(block: Media) -> str:
    return f"data:{block.mime};base64,{b64encode(bytes(block.data or b'')).decode()}"


if __name__ == "__main__":  # what `starting` runs
    import sys

    name, file = sys.argv[1:]
    assert PEERS[name](Path(file)).load()
