"""Store a conversation, close the file, open it again, and fork it in the middle."""

from __future__ import annotations

import tempfile
from pathlib import Path

import bough
from bough import Usage, assistant, tool_call, tool_result, user


def ask(path: Path) -> None:
    """One run of an agent: the question, a tool, the answer. Each step is durable when `add` returns."""
    with bough.connect(path) as store:
        session = store.session("cli:default", title="Trees")
        with session.turn(user("How old is the oak behind the house?"), model="demo") as turn:
            call = tool_call("call_1", "measure", {"tree": "oak", "what": "girth"})
            turn.add(assistant("I will measure it.", call), usage=Usage(120, 30, cost=0.0004))
            turn.add(tool_result("call_1", "girth: 4.1 m"))
            turn.add(assistant("About 210 years, by its girth of 4.1 metres."), usage=Usage(180, 20, cost=0.0005))


def continue_elsewhere(path: Path) -> None:
    """As in a new process: find the session, fork it before the answer, and continue there."""
    with bough.connect(path) as store:
        session = store.session("cli:default")
        measured = session.path()[2]
        fork = session.fork(at=measured.id, title="Trees, in feet")
        fork.save_turn([user("Say it in feet."), assistant("The girth is 13.5 feet.")])
        show(store)


def show(store: bough.Store) -> None:
    print("Two sessions, one tree. The messages that they share are stored once:\n")
    for root in store.forest():
        for depth, tree in root.branches():
            node = tree.node
            words = node.message.text or (node.message.results[0].text if node.message.results else "")
            print(f"{'    ' * depth}{node.id} [{node.role.upper()}] {words}")
            if not tree.children:
                print(f"{'    ' * depth}------")
    print()
    for info in store.sessions():
        print(f"{info.key:<22} {info.title:<16} stands at {info.head_id}")
    print("\nSearch for 'girth':")
    for hit in store.search("girth"):
        print(f"  {hit.node.id} {hit.node.role:<11} {hit.snippet}")
    total = store.usage()[0]
    used = total.usage
    print(f"\n{total.turns} turns, {used.input_tokens} tokens in, {used.output_tokens} out, ${used.cost:.4f}")
    print(f"verify(): {store.verify() or 'everything is what it was when it was saved'}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "first.db"
        ask(file)
        continue_elsewhere(file)
        print(f"\nAll of it in one file of {file.stat().st_size:,} bytes.")
