"""Messages under one external id with other words: each is a message of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b

from bough.codec.digest import digest
from bough.errors import Invalid
from bough.ingest.matching import KnownMessage
from bough.model import Message
from bough.model.imported import ImportedMessage
from bough.model.values import replace


class Identities:
    """Gives a second message under one id an id of its own, which is the same on every reading."""

    def __init__(self, load: Callable[[int], Message | None]) -> None:
        self.notes: list[str] = []
        self._load = load
        self._aliases: dict[str, str] = {}
        """For an id of the source, the id of the last message that was read under it."""

    def distinct(self, messages: list[ImportedMessage], known: Mapping[str, KnownMessage]) -> list[ImportedMessage]:
        """The messages under distinct ids; what follows a renamed message refers to it."""
        seen: dict[str, Message] = {}
        return [self._named(one, seen, known) for one in messages]

    def _named(
        self, one: ImportedMessage, seen: dict[str, Message], known: Mapping[str, KnownMessage]
    ) -> ImportedMessage:
        name, parent = one.id, one.parent
        if self._aliases:
            parent = self._aliases.get(parent, parent) if parent is not None else None
        if self._is_another(one, seen, known):
            name = f"{one.id}~{blake2b(words(one.message).encode('utf-8', 'surrogatepass'), digest_size=6).hexdigest()}"
            self._aliases[one.id] = name
            self.notes.append(f"Two messages have the id {one.id!r}; the second is kept as {name!r}.")
        elif one.id in self._aliases:
            del self._aliases[one.id]
        seen.setdefault(one.id, one.message)
        return one if name == one.id and parent == one.parent else replace(one, id=name, parent=parent)

    def _is_another(self, one: ImportedMessage, seen: Mapping[str, Message], known: Mapping[str, KnownMessage]) -> bool:
        if (before := seen.get(one.id)) is not None:
            return before is not one.message and words(before) != words(one.message)
        stored = known.get(one.id)
        if stored is None or stored.n is None or self._has_digest(stored, one, known):
            return False
        loaded = self._load(stored.n)
        return loaded is not None and are_different(loaded, one.message)

    def _has_digest(self, stored: KnownMessage, one: ImportedMessage, known: Mapping[str, KnownMessage]) -> bool:
        """Whether a message equals the stored one, by its digest; False also if its parent is not known."""
        parent = None if one.parent is None else known.get(one.parent)
        if one.parent is not None and (parent is None or parent.digest is None):
            return False
        try:
            return digest(one.message, (parent and parent.digest) or b"") == stored.digest
        except (Invalid, RecursionError):  # it cannot be stored, which is reported later
            return True


def are_different(stored: Message, read: Message) -> bool:
    """Whether the stored message under an id is not the one that was read: neither is the beginning of the other.

    Only their words are compared, because a better importer may read more of a message than an older one did.
    """
    before, now = words(stored).strip(), words(read).strip()
    return not (before.startswith(now) or now.startswith(before))


def words(message: Message) -> str:
    """The text of a message and of its tool results."""
    return "\n".join([message.text, *(result.text for result in message.results)])
