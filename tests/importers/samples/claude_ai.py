"""An export of Claude.ai: a conversation with branches, and an older one without."""

from __future__ import annotations

import json
from pathlib import Path

from tests.importers.sample import Sample, chop, copied

CONVERSATION = "cc000000-0000-4000-8000-00000000000"


def alone(place: Path) -> Path:
    """One conversation, as saved from the web page."""
    told = json.loads((copied("claude-ai")(place) / "conversations.json").read_text())[1]
    told |= {"current_leaf_message_uuid": "ca100000-0000-4000-8000-000000000004", "model": "claude-opus-4-1"}
    (place / "pond.json").write_text(json.dumps(told))
    return place / "pond.json"


def go_on(path: Path) -> None:
    told = json.loads((path / "conversations.json").read_text())
    thanks = {"uuid": "old-04", "sender": "assistant", "text": "Gladly.", "content": []}
    told[2]["chat_messages"].append(thanks)
    (path / "conversations.json").write_text(json.dumps(told))


SAMPLES = [
    Sample(
        "claude.ai",
        "an export with and without branches",
        copied("claude-ai"),
        conversations=2,
        messages=14,
        skipped=("conversations.json[0]", "conversations.json[1].chat_messages[6]"),
        edges={
            "And the fish?": "Two metres.",
            "And the frogs?\nFrogs: nine\nA pond survey": "Two metres.",
            "Thanks": "",
        },
        sessions={f"claude.ai:{CONVERSATION}1": "Nine frogs."},
        grow=go_on,
        grown=1,
        tear=lambda path: chop(path / "conversations.json", 100),
    ),
    Sample(
        "claude.ai",
        "one conversation of the web page",
        alone,
        conversations=1,
        messages=8,
        skipped=("pond.json.chat_messages[6]",),
        sessions={f"claude.ai:{CONVERSATION}1": "Carp."},
    ),
]
