"""The adapters beside the own SQLite stores of the SDKs, in processor time: `python -m bench adapters` (with peers).

A turn is a question and an answer of 300 characters each. Eight writers are processes that add to one session.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bench.measure import Result, Scale, cpu_contest
from bench.peers import on_disk
from bench.process import start

KEY = "bench"
PER = 10
"""Turns that are appended in one round, to a conversation that has the earlier ones."""


class Kept(Protocol):
    """One conversation in a store of an SDK."""

    def append(self, number: int) -> object: ...

    def load(self) -> list[Any]: ...


class Session:
    """A session of the OpenAI Agents SDK."""

    def __init__(self, path: Path, ours: bool) -> None:
        from agents import SQLiteSession

        from bough.adapters.openai_agents import BoughSession

        self.session: Any = (BoughSession if ours else SQLiteSession)(KEY, path)
        self.loop = asyncio.new_event_loop()

    def append(self, number: int) -> object:
        items = [{"role": "user", "content": text(number)}, {"role": "assistant", "content": text(-number)}]
        return self.loop.run_until_complete(self.session.add_items(items))

    def load(self) -> list[Any]:
        return self.loop.run_until_complete(self.session.get_items())  # type: ignore[no-any-return]


class Saver:
    """A graph of LangGraph with one node, which answers."""

    def __init__(self, path: Path, ours: bool) -> None:
        import sqlite3

        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import END, START, MessagesState, StateGraph

        import bough
        from bough.adapters.langgraph import BoughSaver

        saver = BoughSaver(bough.connect(path)) if ours else SqliteSaver(sqlite3.connect(path, check_same_thread=False))
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda state: {"messages": [("assistant", text(-len(state["messages"])))]})
        graph.add_edge(START, "answer")
        graph.add_edge("answer", END)
        self.graph: Any = graph.compile(checkpointer=saver)
        self.config: Any = {"configurable": {"thread_id": KEY}}

    def append(self, number: int) -> object:
        return self.graph.invoke({"messages": [("user", text(number))]}, self.config, durability="sync")

    def load(self) -> list[Any]:
        return list(self.graph.get_state(self.config).values["messages"])


ADAPTERS: dict[str, Callable[[Path, bool], Kept]] = {
    "OpenAI Agents": Session,
    "LangGraph": Saver,
}


def text(number: int) -> str:
    return f"{number} oaks, " * 30


def measure(scale: Scale, directory: Path) -> Iterator[Result]:
    turns = min(scale.long, 1_000)
    for name, adapter in ADAPTERS.items():
        files = [directory / f"{adapter.__name__}-{side}.db" for side in ("ours", "theirs")]
        both = [adapter(file, file is files[0]) for file in files]
        count = max(turns // PER, 2)
        found = cpu_contest(count, *(partial(appending, kept) for kept in both))
        label = f"{name}: append a turn, of {count * PER:,}, to its own"
        yield Result(label, found.ratio, at_most=1, detail=found.detail(PER))
        found = cpu_contest(scale.rounds, *(partial(loading, kept) for kept in both))
        label = f"{name}: load {2 * count * PER:,} messages, to its own"
        yield Result(label, found.ratio, at_most=1, detail=found.detail())
        mine, theirs = map(on_disk, files)
        detail = f"{mine / 1e6:,.1f} MB : {theirs / 1e6:,.1f} MB"
        target = 0.1 if adapter is Saver else 1
        yield Result(f"{name}: bytes on disk, to its own", mine / theirs, at_most=target, detail=detail)
    yield from writing(scale, directory)


def appending(kept: Kept, number: int) -> Callable[[], object]:
    return lambda: [kept.append(number * PER + at) for at in range(PER)]


def loading(kept: Kept, _: int) -> Callable[[], object]:
    return kept.load


def writing(scale: Scale, directory: Path) -> Iterator[Result]:
    """Processes that add pairs of items to one session: what is lost, and which pairs were torn apart."""
    for side in ("ours", "theirs"):
        file, per = directory / f"many-{side}.db", 5 * scale.rounds
        kept = Session(file, side == "ours")
        writers = [start("-m", "bench.adapters", file, side, number, per) for number in range(scale.writers)]
        for writer in writers:
            writer.communicate()
        contents = [item["content"] for item in kept.load()]
        lost = 2 * per * scale.writers - len(contents)
        torn = sum(a != b for a, b in zip(contents[::2], contents[1::2], strict=False))
        name = "OpenAI Agents" if side == "ours" else "OpenAI Agents, its own"
        yield Result(f"{name}: {scale.writers} writers, items lost or torn apart", lost + torn, "", at_most=0)


def main(file: str, side: str, number: str, count: str) -> None:
    kept = Session(Path(file), side == "ours")
    for at in range(int(count)):
        same = [{"role": "user", "content": f"{number} {at}"}, {"role": "assistant", "content": f"{number} {at}"}]
        kept.loop.run_until_complete(kept.session.add_items(same))


if __name__ == "__main__":
    main(*sys.argv[1:])
