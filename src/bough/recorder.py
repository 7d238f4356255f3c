"""The saving middleware: wrap whatever turns a dialog into a reply, and nothing said is lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bough.model import Message, Node, Save
from bough.model.values import value
from bough.protocols import MessagesSaver


@value
class Kept:
    """A message that has been saved, and its id."""

    id: str
    message: Message


Item = Message | Kept | Node
Generate = Callable[[list[Message]], Message | Sequence[Message]]


class Recorder:
    """Calls `generate` with a dialog, saving before the call what has no id yet, and after it the reply.

    It needs nothing but a `MessagesSaver`. A `Kept` or a `Node` in the dialog counts as saved. When the call fails,
    what was said is kept already: `save` the dialog first to hold its ids, and try again without saving twice.
    """

    def __init__(self, saver: MessagesSaver, generate: Generate, label: str | None = None) -> None:
        self._saver = saver
        self._generate = generate
        self._label = label

    def __call__(self, dialog: Sequence[Item]) -> list[Kept]:
        """The dialog, saved, with the reply at its end."""
        kept = self.save(dialog)
        reply = self._generate([item.message for item in kept])
        return self.save([*kept, *([reply] if isinstance(reply, Message) else reply)])

    def save(self, dialog: Sequence[Item]) -> list[Kept]:
        """Saves what has no id yet, all or none. Each message follows the one before it."""
        return save_dialog(self._saver, dialog, self._label)


def save_dialog(saver: MessagesSaver, dialog: Sequence[Item], label: str | None = None) -> list[Kept]:
    """The dialog with an id for each message; those that had none are saved now, all or none."""
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
