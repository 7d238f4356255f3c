"""A project of Claude Code with branches, replays, subagents, summaries and damage."""

from __future__ import annotations

from pathlib import Path

from tests.importers.sample import Sample, append, chop, copied

SESSION = "5b0e0d3a-0000-4000-8000-000000000001"
FORK = "5b0e0d3a-0000-4000-8000-000000000002"
REMAPPED = "5b0e0d3a-0000-4000-8000-000000000003"
PROJECT = "projects/-home-user-garden"


def fork_file(path: Path) -> Path:
    return path / PROJECT / f"{FORK}.jsonl"


def go_on(path: Path) -> None:
    """The unfinished reply gets another block, and is followed by a message."""
    line = {"isSidechain": False, "sessionId": FORK, "timestamp": "2025-09-03T11:00:00Z"}
    message = {"id": "msg_13", "role": "assistant", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 9}}
    more = {**message, "content": [{"type": "text", "text": "Or the day after."}]}
    append(
        fork_file(path),
        {**line, "type": "assistant", "uuid": "f2b", "parentUuid": "f2", "message": more},
        {**line, "type": "user", "uuid": "f3", "parentUuid": "f2b", "message": {"role": "user", "content": "Good."}},
        {
            **{**line, "type": "assistant", "uuid": "f4", "parentUuid": "f3"},
            "message": {**message, "id": "msg_99", "content": [{"type": "text", "text": "Very good."}]},
        },
    )


SAMPLES = [
    Sample(
        "claude-code",
        "a project with a rewind, a compaction, forks and subagents",
        copied("claude-code"),
        conversations=7,
        messages=37,
        skipped=(f"{SESSION}.jsonl:34", f"{SESSION}.jsonl:39"),
        edges={
            "Which beds need water?": "<local-command-caveat>Caveat: what follows was made by a command."
            "</local-command-caveat>",
            "Water it.": "Only the north bed.",
            "Water it, \nwith the can.": "Only the north bed.",
            "And the roses?": "The north bed is watered.",
            "Is rain coming?": "Only the north bed.",
            "And snow?": "Only the north bed.",
            "Carry the can to the north bed.": None,
        },
        sessions={
            f"claude-code:{FORK}": "Tomorrow.",
            f"claude-code:{REMAPPED}": "No snow.",
            f"claude-code:{SESSION}:a1b2c3d4": "The weeds are out.",
            "claude-code:gone:0ld": "Nine.",
        },
        grow=go_on,
        grown=3,
        tear=lambda path: chop(fork_file(path)),
    ),
    Sample(
        "claude-code",
        "one session, with its subagents",
        lambda place: copied("claude-code")(place) / PROJECT / f"{SESSION}.jsonl",
        conversations=4,
        messages=31,
        skipped=(f"{SESSION}.jsonl:34", f"{SESSION}.jsonl:39"),
    ),
]
