"""What the keys of the browser change in the store. Each function returns the sentence to show."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from bough.errors import NotFound

if TYPE_CHECKING:
    from bough.store import Store


def rename(store: Store, key: str, title: str) -> str:
    """Give a conversation a title."""
    store.session(key).update(title=title)
    return f"Renamed {key}."


def label(store: Store, id: str, text: str) -> str:
    """Label a message; an empty text removes the label."""
    store.label(id, text or None)
    return f"Labelled {id}." if text else f"{id} has no label any more."


def toggle_pin(store: Store, key: str) -> str:
    """Pin a conversation, or unpin it."""
    session = store.session(key)
    if session.info.pinned_at:
        session.unpin()
        return f"{key} is not pinned any more."
    session.pin()
    return f"{key} is pinned."


def delete_session(store: Store, key: str) -> str:
    """Delete a conversation."""
    store.delete_session(key)
    return f"Deleted {key}. u brings it back."


def delete_messages(store: Store, id: str) -> str:
    """Delete a message with all that follows it."""
    store.delete_messages([id], recursive=True)
    return f"Deleted {id} and what followed it. u brings it back."


def undo(store: Store) -> str:
    """Undo the last change."""
    undone = store.undo()
    return f"Undone: {undone.text}" if undone else "There is nothing to undo."


def text_of(store: Store, id: str) -> str:
    """The text of a message."""
    (node,) = store.get_messages([id])
    return node.message.text


def export(store: Store, id: str, file: str) -> str:
    """Write the dialog up to a message to a file, in the format of its ending. Raises `Invalid` and `Refused`."""
    from bough.cli.commands.export import JSONL, conversation_text, format_of, write_file
    from bough.exporters import jsonl

    target = os.path.realpath(os.path.expanduser(file))
    format_ = format_of(target)
    text = jsonl.some(store, [id], False) if format_ == JSONL else conversation_text(store, id, format_, False, False)
    try:
        write_file(target, False, text)
    except FileNotFoundError:
        raise NotFound(f"There is no directory {os.path.dirname(target)!r}; nothing was written.") from None
    return f"Wrote {file}."


def file_name(key: str | None, id: str) -> str:
    """The name that is proposed for an exported file."""
    return re.sub(r"[^\w.-]+", "-", key or id) + ".md"
