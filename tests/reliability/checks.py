"""What must be true of a store after anything has happened to it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import apsw

import bough
from bough import Message, Node, Store, assistant, tool_call, tool_result, user
from bough.db import StrPath
from bough.locations import is_server_url


def steps(name: str, length: int = 4, padding: str = "") -> list[Message]:
    """A turn that says of each of its messages whose it is and how many there are: the input, tool steps, the reply."""
    texts = [f"{name} {place}/{length}" for place in range(length)]
    middle = [
        assistant(tool_call(f"c{place}", "look", {"text": text}), text)
        if place % 2
        else tool_result(f"c{place - 1}", text + padding)
        for place, text in enumerate(texts)
    ]
    return [user(texts[0]), *middle[1:-1], assistant(texts[-1] + padding)]


def told(node: Node) -> tuple[str, int, int]:
    """The turn, the place in it and its length, as the words of a node say."""
    result = node.message.results
    text = result[0].text if result else node.message.text
    name, place = text.split(" ")[:2]
    at, length = place.rstrip("x").split("/")
    return name, int(at), int(length)


def turns_on(path: Sequence[Node]) -> list[str]:
    """The names of the turns on a path; fails for a turn that is cut, mixed with another, or has no reply."""
    assert not path or path[-1].role != "user", f"the dialog ends with the user's words: {path[-1]}"
    names = []
    for turn, group in groupby(path, key=lambda node: node.turn_id):
        nodes = list(group)
        said = [told(node) for node in nodes]
        name, _, length = said[0]
        assert nodes[0].id == turn, f"turn {name} does not begin with its first message"
        assert said == [(name, place, length) for place in range(length)], f"turn {name} is not whole: {said}"
        names.append(name)
    assert len(set(names)) == len(names), f"a turn is there twice: {names}"
    return names


def assert_sound(store: Store) -> dict[str, list[str]]:
    """Fails unless the store verifies and every dialog is made of whole turns; the turns of each session."""
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
    """Asks SQLite alone, without bough; a server looks after its files itself."""
    if is_server_url(path):
        return
    connection = apsw.Connection(str(path))
    try:
        assert connection.pragma("integrity_check") == "ok", "SQLite finds the file damaged"
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == [], "a reference leads nowhere"
    finally:
        connection.close()


def reopened(path: StrPath) -> dict[str, list[str]]:
    """The turns of each session, after everything was checked in a store opened anew."""
    with bough.connect(path) as store:
        found = assert_sound(store)
    assert_file_sound(path)
    return found


def status_of(store: Store, turn: str) -> str:
    """How the turn that begins at this message stands."""
    return {info.id: info.status for info in store.turns()}[turn]
