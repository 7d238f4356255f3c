"""Middleware that stores the dialog and the reply of a generate function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.model import Message, Node, Save
from bough.model.values import value
from bough.protocols import MessagesSaver


@value
class Kept:
    """A stored message and its id."""

    id: str
    message: Message


Item = Message | Kept | Node
Generate = Callable[[list[Message]], Message | Sequence[Message]]


class Recorder:
    """Saves a dialog, calls `generate` with it, and saves the reply.

    It needs only a `MessagesSaver`. A `Kept` or a `Node` in the dialog is already saved. If `generate` raises, the
    dialog has been stored: to retry without storing it twice, call `save` first and pass its result.
    """

    def __init__(self, saver: MessagesSaver, generate: Generate, label: str | None = None) -> None:
        self._saver = saver
        self._generate = generate
        self._label = label

    def __call__(self, dialog: Sequence[Item]) -> list[Kept]:
        """The saved dialog with the reply appended. Raises what the saver and `generate` raise."""
        kept = self.save(dialog)
        reply = self._generate([item.message for item in kept])
        return self.save([*kept, *([reply] if isinstance(reply, Message) else reply)])

    def save(self, dialog: Sequence[Item]) -> list[Kept]:
        """Save the messages without an id, all or none, each as a child of the previous one."""
        return save_dialog(self._saver, dialog, self._label)


def save_dialog(saver: MessagesSaver, dialog: Sequence[Item], label: str | None = None) -> list[Kept]:
    """Save the messages of a dialog that have no id, all or none; return the dialog with all ids."""
    saves: list[Save] = []
    parent: str | Save | None = None
    for item in dialog:
        if isinstance(item, Message):
            parent = Save(item, parent, label)
            saves.append(parent)
        else:
            parent = item.id
    fresh = iter(saver.save_messages(saves) if saves else [])
    return [Kept(next(fresh), item) if isinstance(item, Message) else Kept(item.id, item.message) for item in dialog]
