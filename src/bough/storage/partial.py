"""A reply that is still being written: what has come of it so far survives a crash in the middle of its stream."""

from __future__ import annotations

import json

from bough.codec.encode import draft
from bough.db import Database
from bough.errors import Invalid
from bough.model import Message, Text, Thinking
from bough.storage import lookup
from bough.storage.messages import Entry, insert


def keep(db: Database, turn: int, message: Message, label: str | None) -> None:
    """Keeps what has come of the reply of a turn, in the place of what was kept before. Raises `Invalid`."""
    said = [block for block in message.blocks if isinstance(block, (Text, Thinking))]
    if len(said) < len(message.blocks):
        raise Invalid("A reply that is still being written is kept as text and thinking only; nothing was kept.")
    pairs = [["text" if isinstance(block, Text) else "thinking", block.text] for block in said]
    db.run("set_sketch", turn, json.dumps([label, pairs]))


def settle(db: Database, turn: int, now: int) -> bool:
    """Makes what was kept of an unfinished reply the last message of its turn, as an error; whether there was one."""
    row = db.row("sketch", turn)
    span = lookup.span(db, turn)
    if row is None or span is None:
        return False
    (content,) = row
    label, pairs = json.loads(content)
    blocks = tuple(Text(text) if kind == "text" else Thinking(text) for kind, text in pairs)
    message = Message("assistant", blocks, error=True)
    saved = insert(db, [Entry(message, draft(message), parent=span.last, label=label)], now, turn)
    db.run("drop_sketch", turn)
    db.run("cut_turn", saved.last, turn)
    return True
