"""What an importer yields, before and after a store has it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bough import Store
from bough.importers import detect
from bough.model import Node
from bough.model.imported import Conversation, ImportedMessage, ImportResult, Skipped
from tests.importers.sample import Sample
from tests.importers.samples import SAMPLES


@dataclass(frozen=True)
class ReadConversation:
    """A conversation with its items, which can be read only once."""

    conversation: Conversation
    messages: dict[str, ImportedMessage]
    skipped: list[Skipped]

    def by_text(self, text: str) -> ImportedMessage:
        """The first message, or message with a tool result, that has this text."""
        for imported in self.messages.values():
            if text in (imported.message.text, *(result.text for result in imported.message.results)):
                return imported
        raise AssertionError(f"no message has the text {text!r}")


def read_path(path: Path) -> dict[str, ReadConversation]:
    """The conversations of a path by id, not stored."""
    found: dict[str, ReadConversation] = {}
    for one in detect(path).read(path):
        if isinstance(one, Conversation):
            items = list(one.items)
            messages = {item.id: item for item in items if isinstance(item, ImportedMessage)}
            found[one.id] = ReadConversation(one, messages, [item for item in items if isinstance(item, Skipped)])
    return found


def import_path(store: Store, path: Path) -> tuple[list[ImportResult], list[Skipped]]:
    """Imports a path as the command does: the results, and everything that was skipped."""
    results: list[ImportResult] = []
    skipped: list[Skipped] = []
    for one in detect(path).read(path):
        if isinstance(one, Skipped):
            skipped.append(one)
        else:
            results.append(store.bring_in(one))
            skipped += results[-1].skipped
    return results, skipped


def sample(source: str, about: str) -> Sample:
    """The only sample of a source with these words in its description."""
    (found,) = [one for one in SAMPLES if one.source == source and about in one.about]
    return found


def import_sample(store: Store, directory: Path, source: str, about: str) -> dict[str, Node]:
    """The messages of an imported sample, by their text."""
    import_path(store, sample(source, about).make(directory))
    return {node.message.text: node for node in store.list_messages()}
