"""What each chat has seen of its conversation, and up to where each place of a service has been read."""

from __future__ import annotations

from collections.abc import Mapping

from bough.model import Node
from bough.store import Store


class Chats:
    """The conversations and places of one channel."""

    def __init__(self, store: Store, channel: str) -> None:
        self._store = store
        self._channel = channel

    def shown(self, conversation: str) -> str | None:
        """The head of the conversation after the last answer in the chat."""
        row = self._store.db.row("channel_chat", self._channel, conversation)
        return None if row is None else row[0]

    def show(self, conversation: str, head: str | None) -> None:
        """Say that the chat has seen the conversation up to its head, inside a transaction."""
        self._store.db.run("put_channel_chat", self._channel, conversation, head)

    def added_elsewhere(self, conversation: str, path: list[Node]) -> list[Node]:
        """The messages at the end of the dialog that came from the terminal, the page or another channel."""
        shown = self.shown(conversation)
        ids = [node.id for node in path]
        return path[ids.index(shown) + 1 :] if shown in ids else []

    def cursors(self) -> dict[str, str]:
        """Up to where each place of the service has been read."""
        return dict(self._store.db.rows("channel_cursors", self._channel))

    def put_cursors(self, cursors: Mapping[str, str]) -> None:
        """Remember up to where places have been read."""
        rows = [(self._channel, place, cursor) for place, cursor in cursors.items()]
        self._store.write(lambda _: self._store.db.run_many("put_channel_cursor", rows))
