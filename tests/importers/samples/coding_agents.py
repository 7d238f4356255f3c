"""Sessions of coding agents that keep a file or a directory for each: Gemini CLI, pi, Mistral Vibe, Cline, aider."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bough.model import Json
from tests.importers.sample import Sample, append, chop, halve

GEMINI = "3f0c9f1e-5f6f-4c0a-9d0e-6a53f4a1c001"
CHILD = "child-1"
PI = "0199aaaa-0000-7000-8000-000000000001"


def write(path: Path, *lines: Json) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def turn(n: int, kind: str, content: Json, **more: Json) -> dict[str, Json]:
    return {"id": f"m{n}", "timestamp": f"2026-03-01T10:00:{n:02}.123Z", "type": kind, "content": content, **more}


CALL: dict[str, Json] = {
    "id": "read-1", "name": "read_file", "args": {"path": "a"}, "status": "success", "agentId": CHILD,
    "result": [{"functionResponse": {"id": "read-1", "name": "read_file", "response": {"output": "main branch"}}}],
}  # fmt: skip
TOKENS: Json = {"input": 100, "output": 7, "cached": 40, "thoughts": 5, "tool": 0, "total": 112}


def gemini(place: Path) -> Path:
    """A session with an updated reply, a rewind and a note, its subagent, and a session of an older version."""
    project = place / "tmp" / "garden"
    about = {"sessionId": GEMINI, "projectHash": "abc", "startTime": "2026-03-01T10:00:00.000Z", "kind": "main"}
    thought = {"subject": "Oaks", "description": "They are old.", "timestamp": "2026-03-01T10:00:02.000Z"}
    write(
        project / "chats" / "session-2026-03-01T10-00-3f0c9f1e.jsonl",
        about,
        turn(1, "user", [{"text": "What is a bough?"}]),
        turn(2, "gemini", "", thoughts=[thought]),
        turn(2, "gemini", "", thoughts=[thought], toolCalls=[CALL], tokens=TOKENS, model="gemini-3-pro"),
        {"$set": {"lastUpdated": "2026-03-01T10:00:03.000Z"}},
        turn(9, "user", [{"functionResponse": {"id": "read-1", "name": "read_file", "response": {"output": "x"}}}]),
        turn(3, "gemini", "A main branch.", tokens=TOKENS, model="gemini-3-pro"),
        turn(4, "user", "And a twig?"),
        turn(5, "gemini", "A small one.", model="gemini-3-pro"),
        {"$rewindTo": "m4"},
        turn(6, "user", "And a leaf?"),
        turn(7, "info", "Request cancelled."),
    )
    child = {**about, "sessionId": CHILD, "kind": "subagent"}
    write(project / "chats" / GEMINI / f"{CHILD}.jsonl", child,
          turn(11, "user", "Look at a."),
          turn(12, "gemini", "It says main branch.", model="gemini-3-flash"))  # fmt: skip
    (project / ".project_root").write_text("/home/me/garden")
    old = {"sessionId": "old", "projectHash": "abc", "startTime": "2025-10-01T10:00:00.000Z",
           "messages": [turn(21, "user", "hi"), turn(22, "gemini", "hello", model="gemini-2.5-pro")]}  # fmt: skip
    (project / "chats" / "session-2025-10-01T10-00-old.json").write_text(json.dumps(old, indent=2))
    return place / "tmp"


def entry(id: str, parent: str | None, kind: str, **fields: Json) -> dict[str, Json]:
    return {"type": kind, "id": id, "parentId": parent, "timestamp": "2026-04-01T09:00:00.500Z", **fields}


def pi_message(id: str, parent: str | None, role: str, content: Json, **fields: Json) -> dict[str, Json]:
    return entry(id, parent, "message", message={"role": role, "content": content, "timestamp": 1, **fields})


PI_USAGE: Json = {"input": 10, "output": 3, "cacheRead": 4, "cacheWrite": 1, "cost": {"total": 0.5}}


def pi(place: Path) -> Path:
    """A tree with a branch, a label, a compaction and the summary of a branch."""
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a"}}
    write(
        place / "sessions" / "--home-me--" / f"2026-04-01T09-00-00-000Z_{PI}.jsonl",
        {"type": "session", "version": 3, "id": PI, "timestamp": "2026-04-01T09:00:00.000Z", "cwd": "/home/me"},
        entry("e0", None, "model_change", provider="anthropic", modelId="m"),
        pi_message("e1", "e0", "user", "Prune the oak."),
        pi_message("e2", "e1", "assistant", [{"type": "thinking", "thinking": "hm"}, call], model="m", usage=PI_USAGE),
        pi_message("e3", "e2", "toolResult", [{"type": "text", "text": "an oak"}], toolCallId="c1", toolName="read"),
        pi_message("e4", "e3", "assistant", [{"type": "text", "text": "Pruned."}], model="m", usage=PI_USAGE),
        pi_message("e5", "e4", "user", "Water it."),
        pi_message("e6", "e5", "assistant", [{"type": "text", "text": "Watered."}], model="m"),
        entry("e7", "e4", "branch_summary", fromId="e6", summary="It was watered."),
        pi_message("e8", "e7", "user", "Burn it."),
        pi_message("e9", "e8", "assistant", [{"type": "text", "text": "No."}], model="m"),
        entry("f1", "e9", "compaction", summary="An oak was pruned.", firstKeptEntryId="e8", tokensBefore=900),
        entry("f2", "f1", "label", targetId="e4", label="pruned"),
        entry("f3", "f2", "session_info", name="The oak"),
    )
    return place / "sessions"


def vibe(place: Path) -> Path:
    folder = place / "session" / "session_20260501_100000_abcd1234"
    folder.mkdir(parents=True)
    meta = {
        "session_id": "abcd1234", "start_time": "2026-05-01T10:00:00+00:00", "end_time": "2026-05-01T10:05:00+00:00",
        "environment": {"working_directory": "/home/me"}, "title": "Ivy", "config": {"active_model": "devstral"},
        "stats": {"session_prompt_tokens": 50, "session_completion_tokens": 6, "session_cost": 0.01},
    }  # fmt: skip
    (folder / "meta.json").write_text(json.dumps(meta))
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    write(
        folder / "messages.jsonl",
        {"role": "user", "content": "Cut the ivy."},
        {"role": "assistant", "content": "", "reasoning_content": "hm", "tool_calls": [call]},
        {"role": "tool", "content": "cut", "tool_call_id": "c1", "name": "bash"},
        {"role": "assistant", "content": "It is cut."},
    )
    return place / "session"


def cline(place: Path) -> Path:
    folder = place / "tasks" / "1760000000000"
    folder.mkdir(parents=True)
    environment = "<environment_details>\n# Current Working Directory (/home/me) Files\na\n</environment_details>"
    (folder / "api_conversation_history.json").write_text(json.dumps(cline_messages(environment)))
    request = json.dumps({"request": "…", "tokensIn": 20, "tokensOut": 4, "cacheReads": 8, "cost": 0.25})
    shown: list[Any] = [
        {"ts": 1760000000000, "type": "say", "say": "text", "text": "Mow the lawn."},
        {"ts": 1760000001000, "type": "say", "say": "api_req_started", "text": request,
         "modelInfo": {"modelId": "claude-opus-4-6", "providerId": "anthropic"}},
        {"ts": 1760000003000, "type": "say", "say": "text", "text": "I look."},
    ]  # fmt: skip
    (folder / "ui_messages.json").write_text(json.dumps(shown))
    return place / "tasks"


def cline_messages(environment: str) -> list[Json]:
    return [
        {"role": "user", "content": [{"type": "text", "text": "<task>\nMow the lawn.\n</task>"},
                                     {"type": "text", "text": environment}]},
        {"role": "assistant", "content": [{"type": "text", "text": "I look."},
                                          {"type": "tool_use", "id": "t1", "name": "list", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "a lawn"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is mown."}]},
    ]  # fmt: skip


def cline_grows(path: Path) -> None:
    file = path / "1760000000000" / "api_conversation_history.json"
    more: list[Json] = [{"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "…"}]
    file.write_text(json.dumps(json.loads(file.read_text()) + more))


AIDER = """
# aider chat started at 2026-06-01 12:00:00

> /usr/bin/aider --message What is a bough?
In a line.  
> Model: gpt-5 with diff edit format  

#### What is a bough?  
#### In a line.  

A main branch.

#### Uses

> quoted from a book

- swings

> Tokens: 1.2k sent, 300 cache hit, 40 received. Cost: $0.02 message, $0.03 session.  

# aider chat started at 2026-06-02 12:00:00

> Model: gpt-5 with diff edit format  

# aider chat started at 2026-06-03 12:00:00

#### /ask And a twig?  

A small branch.
"""  # noqa: W291 - the spaces at the ends of lines are aider's


def aider(place: Path) -> Path:
    path = place / ".aider.chat.history.md"
    path.write_text(AIDER)
    return path


def session(path: Path) -> Path:
    return next(path.rglob("*3f0c9f1e.jsonl"))


SAMPLES = [
    Sample(
        "gemini-cli", "a rewind, a subagent, and an older file", gemini, 3, 12,
        edges={"What is a bough?": None, "A main branch.": "", "And a twig?": "A main branch.",
               "A small one.": "And a twig?",
               "And a leaf?": "A main branch.", "hello": "hi", "It says main branch.": "Look at a."},
        sessions={f"gemini-cli:{GEMINI}": "", "gemini-cli:child-1": "It says main branch.", "gemini-cli:old": "hello"},
        grow=lambda path: append(session(path), turn(8, "gemini", "It is green.", model="m")), grown=1,
        tear=lambda path: chop(session(path)),
    ),
    Sample(
        "pi", "a tree with a compaction", pi, 1, 10,
        edges={"Prune the oak.": None, "Watered.": "Water it.", "It was watered.": "Pruned.", "No.": "Burn it.",
               "An oak was pruned.": "No."},
        sessions={f"pi:{PI}": "An oak was pruned."},
        grow=lambda path: append(next(path.rglob("*.jsonl")), pi_message("g1", "f3", "user", "Thanks."),
                                 pi_message("g2", "g1", "assistant", [{"type": "text", "text": "…"}])), grown=2,
        tear=lambda path: chop(next(path.rglob("*.jsonl"))),
    ),
    Sample(
        "vibe", "a session with a call", vibe, 1, 4, edges={"Cut the ivy.": None, "It is cut.": ""},
        sessions={"vibe:abcd1234": "It is cut."},
        grow=lambda path: append(next(path.rglob("messages.jsonl")), {"role": "user", "content": "Thanks."},
                                 {"role": "assistant", "content": "…"}), grown=2,
        tear=lambda path: chop(next(path.rglob("messages.jsonl"))),
    ),
    Sample(
        "cline", "a task with a call", cline, 1, 4, edges={"It is mown.": ""},
        sessions={"cline:1760000000000": "It is mown."}, grow=cline_grows, grown=2,
        tear=lambda path: halve(path / "1760000000000" / "api_conversation_history.json"),
    ),
    Sample(
        "aider", "three runs, one of them without words", aider, 2, 6,
        edges={"A small branch.": "/ask And a twig?"},
        grow=lambda path: path.write_text(AIDER + "\n#### Thanks.  \n\n…\n"), grown=2,
    ),
]  # fmt: skip
