"""Codex's sessions: all generations of rollouts, one of them compressed."""

from __future__ import annotations

from pathlib import Path

from tests.importers.sample import Sample, append, chop, copied

THREAD = "0199a000-0000-7000-8000-00000000000"
OLDEST = "c3c4b301-0000-4000-8000-00000000000e"
DAY = "sessions/2026/03/05"


def rollout(path: Path) -> Path:
    return path / DAY / f"rollout-2026-03-05T08-00-00-{THREAD}a.jsonl"


def fork(path: Path) -> Path:
    return path / DAY / f"rollout-2026-03-05T09-00-00-{THREAD}b.jsonl"


def fork_in_the_middle(path: Path) -> Path:
    return path / DAY / f"rollout-2026-03-05T10-00-00-{THREAD}d.jsonl"


def said(role: str, text: str) -> dict[str, object]:
    part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    payload = {"type": "message", "role": role, "content": [part]}
    return {"timestamp": "2026-03-05T12:00:00Z", "type": "response_item", "payload": payload}


SAMPLES = [
    Sample(
        "codex",
        "a rollback, a compaction, a fork, a subagent and a file that continues another",
        copied("codex"),
        conversations=5,
        messages=30,
        skipped=("a.jsonl:43", "a.jsonl:44"),
        edges={
            "Cut the pear.": "Two trees.",
            "Prune the pear.": "Two trees.",
            "And the apples?": "Two trees.",
            "Plant a plum.": "Two trees.",
            "Let another one finish it.": "The pear is half pruned.",
            "Finish the pear.": None,
        },
        sessions={
            f"codex:{THREAD}a": "It is being done.",
            f"codex:{THREAD}b": "Ripe in autumn.",
            f"codex:{THREAD}c": "Finished.",
            f"codex:{OLDEST}": "The meadow is mown.",
        },
        grow=lambda path: append(rollout(path), said("user", "Thanks."), said("assistant", "You are welcome.")),
        grown=2,
        tear=lambda path: chop(fork(path)),
    ),
    Sample(
        "codex",
        "one compressed rollout",
        lambda place: copied("codex")(place) / DAY / f"rollout-2026-03-05T09-30-00-{THREAD}c.jsonl.zst",
        conversations=1,
        messages=2,
    ),
    Sample(
        "codex",
        "a fork without the thread that it was forked from",
        lambda place: fork(copied("codex")(place)),
        conversations=1,
        messages=9,
        grow=lambda path: append(path, said("assistant", "And in winter.")),
        grown=1,
    ),
]
