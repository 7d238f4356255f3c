"""Conversations are read in the order of their last use."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import bough
from bough.importers import detect
from bough.importers.common.order import eldest, last_time, latest_last
from bough.model import Json
from bough.model.imported import Conversation
from tests.importers.sample import append
from tests.importers.samples import SAMPLES
from tests.importers.samples.claude_code import FORK, PROJECT, SESSION
from tests.importers.samples.codex import THREAD, rollout, said

EARLY, LATE = "2025-01-01T00:00:00Z", "2030-01-01T00:00:00Z"


def sample(place: Path, source: str) -> Path:
    return next(one for one in SAMPLES if one.source == source).make(place)


def order(path: Path) -> list[str]:
    """The ids of the conversations of a path, in order. Each is read before the next one is requested."""
    names = []
    for one in detect(path).read(path):
        if isinstance(one, Conversation):
            names.append(one.id)
            list(one.items)
    return names


def test_a_family_stays_together_in_its_order_and_stands_where_its_last_one_was_used() -> None:
    used = {"a": 1, "b": 2, "a's fork": 9, "c": 3}
    assert latest_last(used, used.__getitem__, lambda name: name[0]) == ["b", "c", "a", "a's fork"]


def test_the_eldest_of_a_family_is_found_through_forks_of_forks_and_circles() -> None:
    parents = {"c": "b", "a": None, "b": "a", "lost": "gone", "x": "y", "y": "x"}
    families = eldest(parents)
    assert {name: families[name] for name in ("a", "b", "c")} == dict.fromkeys("abc", "a")
    assert families["lost"] == "gone"
    assert families["x"] == families["y"]


@pytest.mark.parametrize("tail", [b"", b'{"timestamp":"2026-', b'\n{"no":"time"}'])
def test_the_last_time_of_a_log_is_found_at_its_end(tail: bytes) -> None:
    filling = b'{"timestamp":"2020-01-01T00:00:00Z","x":"' + b"x" * 200_000 + b'"}\n'
    line = b'{"timestamp":"2025-01-01T00:00:00Z"}'
    assert last_time(io.BytesIO(filling + line + tail)) == 1_735_689_600_000_000
    assert last_time(io.BytesIO()) == 0


def test_a_session_of_claude_code_that_went_on_comes_after_others_and_after_its_origin(tmp_path: Path) -> None:
    path = sample(tmp_path, "claude-code")
    other = path / "projects" / "-elsewhere" / "other.jsonl"
    other.parent.mkdir()
    other.write_text(json.dumps(human("o1", LATE)) + "\n")
    assert order(path)[-1] == "other"
    append(path / PROJECT / f"{SESSION}.jsonl", human("late", "2031-01-01T00:00:00Z"))
    conversations = order(path)
    assert conversations[0] == "gone:0ld"
    assert conversations.index("other") < conversations.index(SESSION) < conversations.index(FORK)


def human(uuid: str, time: str) -> dict[str, object]:
    message = {"role": "user", "content": "Hello."}
    return {"type": "user", "uuid": uuid, "parentUuid": None, "sessionId": "s", "timestamp": time, "message": message}


def test_a_thread_of_codex_that_went_on_comes_last_with_its_forks(tmp_path: Path) -> None:
    path = sample(tmp_path, "codex")
    newer = rollout(path).with_name(f"rollout-2026-03-06T00-00-00-{THREAD}9.jsonl")
    heading = {"timestamp": EARLY, "type": "session_meta", "payload": {"id": f"{THREAD}9", "timestamp": EARLY}}
    newer.write_text(json.dumps(heading) + "\n")
    append(newer, {**said("user", "Later."), "timestamp": "2027-01-01T00:00:00Z"})
    assert order(path)[-1] == f"{THREAD}9"
    append(rollout(path), {**said("user", "Much later."), "timestamp": LATE})
    assert [name[-1] for name in order(path)] == ["e", "9", "a", "b", "c", "d"]


def chatgpt(name: str, time: float) -> dict[str, object]:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [name]}}
    mapping: Json = {"m": {"id": "m", "message": message, "parent": None, "children": []}}
    return {"conversation_id": name, "title": name, "update_time": time, "mapping": mapping}


def claude_ai(name: str, time: float) -> dict[str, object]:
    message = {"uuid": f"{name}-1", "sender": "human", "text": name, "content": []}
    return {"uuid": name, "name": name, "updated_at": f"2026-01-0{time:.0f}T00:00:00Z", "chat_messages": [message]}


@pytest.mark.parametrize("export", [chatgpt, claude_ai])
def test_an_export_with_the_newest_first_is_turned_around(export: Callable[..., object], tmp_path: Path) -> None:
    (tmp_path / "conversations-000.json").write_text(json.dumps([export("c", 3), export("a", 1)]))
    (tmp_path / "conversations-001.json").write_text(json.dumps([export("b", 2)]))
    assert order(tmp_path) == ["a", "b", "c"]


def test_the_list_of_a_store_ends_with_what_was_used_last(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_text(json.dumps([chatgpt("new", 2), chatgpt("old", 1)]))
    with bough.connect(tmp_path / "bough.db") as store:
        for one in detect(tmp_path).read(tmp_path):
            store.bring_in(one)  # type: ignore[arg-type]
        assert [tree.node.message.text for tree in store.forest()] == ["old", "new"]
        assert [session.title for session in store.sessions()] == ["new", "old"]
