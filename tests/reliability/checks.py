"""Checks of the invariants of a store."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import apsw

import bough
from bough import Message, Node, Store, assistant, tool_call, tool_result, user
from bough.db import StrPath
from bough.locations import is_server_url


def steps(name: str, length: int = 4, padding: str = "") -> list[Message]:
    """A turn (input, tool calls, reply) whose messages contain its name, their position and their number."""
    texts = [f"{name} {place}/{length}" for place in range(length)]
    middle = [
        assistant(tool_call(f"c{place}", "look", {"text": text}), text)
        if place % 2
        else tool_result(f"c{place - 1}", text + padding)
        for place, text in enumerate(texts)
    ]
    return [user(texts[0]), *middle[1:-1], assistant(texts[-1] + padding)]


def position_of(node: Node) -> tuple[str, int, int]:
    """The turn of a node, its position in it and its length, from the text."""
    result = node.message.results
    text = result[0].text if result else node.message.text
    name, place = text.split(" ")[:2]
    at, length = place.rstrip("x").split("/")
    return name, int(at), int(length)


def turns_on(path: Sequence[Node]) -> list[str]:
    """The names of the turns on a path; fails for a turn that is partial, interleaved or without a reply."""
    assert not path or path[-1].role != "user", f"the dialog ends with a user message: {path[-1]}"
    names = []
    for turn, group in groupby(path, key=lambda node: node.turn_id):
        nodes = list(group)
        said = [position_of(node) for node in nodes]
        name, _, length = said[0]
        assert nodes[0].id == turn, f"turn {name} does not begin with its first message"
        assert said == [(name, place, length) for place in range(length)], f"turn {name} is not whole: {said}"
        names.append(name)
    assert len(set(names)) == len(names), f"a turn is there twice: {names}"
    return names


def assert_sound(store: Store) -> dict[str, list[str]]:
    """Verify a store and check that every dialog consists of complete turns; return the turns of each session."""
    findings, running = store.verify(), store.turns(status="running")
    assert findings == [], f"verify found {findings}"
    assert running == [], f"still running: {running}"
    found = {}
    complete = {turn.id for turn in store.turns(status="complete")}
    for info in store.sessions():
        path = store.session(info.key).path()
        found[info.key] = turns_on(path)
        assert {node.turn_id for node in path} <= complete, f"{info.key} has a turn that is not complete"
    return found


def assert_file_sound(path: StrPath) -> None:
    """Check the file with SQLite alone; nothing to do for a server."""
    if is_server_url(path):
        return
    connection = apsw.Connection(str(path))
    try:
        assert connection.pragma("integrity_check") == "ok", "SQLite finds the file damaged"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == [], "a reference leads nowhere"
    finally:
        connection.close()


def reopened(path: StrPath) -> dict[str, list[str]]:
    """Reopen and check a store; return the turns of each session."""
    with bough.connect(path) as store:
        found = assert_sound(store)
    assert_file_sound(path)
    return found


def status_of(store: Store, turn: str) -> str:
    """The status of a turn."""
    return {info.id: info.status for info in store.turns()}[turn]
