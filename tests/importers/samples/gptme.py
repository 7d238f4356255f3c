"""Logs of gptme: a conversation with branches, and one of an early version."""

from __future__ import annotations

from pathlib import Path

from tests.importers.sample import Sample, append, chop, copied

HEDGE = "2026-05-01-hedge"


def log(path: Path) -> Path:
    return path / HEDGE / "conversation.jsonl"


SAMPLES = [
    Sample(
        "gptme",
        "a log with branches, and an old one",
        copied("gptme"),
        conversations=2,
        messages=15,
        skipped=(f"{HEDGE}/conversation.jsonl:6",),
        edges={
            "Trimmed.": "Ran command: `trim`",
            "Trimmed it all.": "Ran command: `trim`",
            "Burn the rest.": "Trimmed.",
            "Summary: the hedge was trimmed.": "You are gptme.",
            "hello": None,
        },
        sessions={
            f"gptme:{HEDGE}": "A leaf.",
            f"gptme:{HEDGE}:bonfire": "Burning.",
            "gptme:2023-09-01-old": "hi",
        },
        grow=lambda path: append(
            log(path), {"role": "user", "content": "Thanks."}, {"role": "assistant", "content": "…"}
        ),
        grown=2,
        tear=lambda path: chop(log(path)),
    ),
    Sample(
        "gptme",
        "one conversation",
        lambda place: log(copied("gptme")(place)),
        conversations=1,
        messages=13,
        skipped=("conversation.jsonl:6",),
        sessions={f"gptme:{HEDGE}": "A leaf."},
    ),
]
