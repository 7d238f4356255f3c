"""What an importer tells, before any store has seen it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bough.importers import detect
from bough.model.imported import Conversation, ImportedMessage, Skipped


@dataclass(frozen=True)
class Told:
    """A conversation, and its items by their names."""

    conversation: Conversation
    said: dict[str, ImportedMessage]
    skipped: list[Skipped]

    def by_text(self, text: str) -> ImportedMessage:
        """The first message that says this, or a tool's result that does."""
        for said in self.said.values():
            if text in (said.message.text, *(result.text for result in said.message.results)):
                return said
        raise AssertionError(f"nobody said {text!r}")


def tell(path: Path) -> dict[str, Told]:
    """The conversations of a path, by their names."""
    told: dict[str, Told] = {}
    for one in detect(path).read(path):
        if isinstance(one, Conversation):
            items = list(one.items)
            said = {item.id: item for item in items if isinstance(item, ImportedMessage)}
            told[one.id] = Told(one, said, [item for item in items if isinstance(item, Skipped)])
    return told
