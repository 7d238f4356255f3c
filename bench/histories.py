"""Generate histories of other programs, of a given size and in the programs' own formats."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from uuid import UUID

from bench.workload import Conversation, conversation
from bough import Media, Message, Text, ToolCall, ToolResult
from bough.model import Json

BEGAN = datetime(2026, 3, 1, 8, tzinfo=UTC)
TALK = 400
"""Messages in each conversation; every seventh is ten times as long."""


def talks() -> Iterator[tuple[int, Conversation]]:
    """An endless sequence of conversations."""
    for number in count():
        yield number, conversation(TALK * 10 if number % 7 == 6 else TALK, seed=number)


def named(number: int, place: int = 0) -> str:
    return str(UUID(int=(number << 64) + place + 1))


def stamp(place: int) -> str:
    return (BEGAN + timedelta(seconds=place, milliseconds=37)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


# Claude Code: a file of lines for each session ----------------------------------------------------------------------


def claude_code(directory: Path, megabytes: float) -> Path:
    """A directory of projects of at least this size."""
    place = directory / "projects" / "-work-bough"
    place.mkdir(parents=True)
    written = 0
    for number, talk in talks():
        file = place / f"{named(number)}.jsonl"
        file.write_text("".join(_claude_lines(number, talk)))
        written += file.stat().st_size
        if written >= megabytes * 1e6:
            return directory / "projects"
    raise AssertionError


def _claude_lines(number: int, talk: Conversation) -> Iterator[str]:
    place, parent = 0, None
    for turn in talk:
        for message in turn:
            place += 1
            kind = "assistant" if message.role == "assistant" else "user"
            yield json.dumps({
                "type": kind, "uuid": named(number, place), "parentUuid": parent, "sessionId": named(number),
                "timestamp": stamp(place), "cwd": "/src/bough", "version": "2.1.0", "userType": "external",
                "isSidechain": False, "message": _claude_message(kind, message, place),
            }) + "\n"  # fmt: skip
            parent = named(number, place)


def _claude_message(kind: str, message: Message, place: int) -> Json:
    shell = {"role": kind, "content": [_claude_block(block) for block in message.blocks]}
    if kind == "user":
        return shell
    usage = {"input_tokens": 4_000 + place, "output_tokens": 300, "cache_read_input_tokens": 3_000}
    return {"id": f"msg_{place}", "type": "message", "model": "claude-x", **shell, "stop_reason": None, "usage": usage}


def _claude_block(block: object) -> Json:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case ToolCall():
            return {"type": "tool_use", "id": block.call_id, "name": block.name, "input": block.input}
        case ToolResult():
            return {"type": "tool_result", "tool_use_id": block.call_id, "content": block.text}
        case Media(data=bytes() as data):
            source = {"type": "base64", "media_type": block.mime, "data": b64encode(data).decode()}
            return {"type": "image", "source": source}
    raise AssertionError(block)


# ChatGPT: one list of trees ------------------------------------------------------------------------------------------


def chatgpt(directory: Path, megabytes: float) -> Path:
    """`conversations.json` of at least this size, with a regenerated reply in every tenth turn."""
    path = directory / "conversations.json"
    with path.open("w") as file:
        for number, talk in talks():
            file.write(("," if number else "[") + json.dumps(_chatgpt_tree(number, talk)))
            if file.tell() >= megabytes * 1e6:
                break
        file.write("]")
    return path


def _chatgpt_tree(number: int, talk: Conversation) -> Json:
    root = named(number)
    mapping: dict[str, Json] = {root: {"id": root, "message": None, "parent": None, "children": []}}
    parent, place = root, 0
    for turn_number, turn in enumerate(talk):
        for message in turn:
            retries = 2 if message is turn[-1] and turn_number % 10 == 9 else 1
            for _ in range(retries):
                place += 1
                name = named(number, place)
                mapping[parent]["children"].append(name)
                mapping[name] = {"id": name, "message": _chatgpt_message(name, message, place), "parent": parent,
                                 "children": []}  # fmt: skip
            parent = name
    return {"title": f"Talk {number}", "create_time": BEGAN.timestamp(), "update_time": BEGAN.timestamp() + place,
            "mapping": mapping, "current_node": parent, "conversation_id": root, "id": root}  # fmt: skip


def _chatgpt_message(name: str, message: Message, place: int) -> Json:
    role = "tool" if message.role == "tool_result" else message.role
    words = "\n".join(text for block in message.blocks if (text := _words(block)))
    recipient = "python" if message.calls else "all"
    return {"id": name, "author": {"role": role, "name": "python" if role == "tool" else None, "metadata": {}},
            "create_time": BEGAN.timestamp() + place, "content": {"content_type": "text", "parts": [words]},
            "status": "finished_successfully", "end_turn": True, "weight": 1.0, "recipient": recipient,
            "metadata": {"model_slug": "gpt-x"} if role == "assistant" else {}}  # fmt: skip


def _words(block: object) -> str:
    match block:
        case Text() | ToolResult():
            return block.text
        case ToolCall():
            return block.arguments
    return ""


SETS: dict[str, Callable[[Path, float], Path]] = {"Claude Code": claude_code, "ChatGPT": chatgpt}
