"""Partial replies: what a stream has delivered so far is stored, and survives a crash."""

from __future__ import annotations

import json

from bough.db import Database
from bough.errors import Invalid
from bough.model import Message, Text, Thinking
from bough.storage import lookup
from bough.storage.messages import Entry, insert, prepare


def keep(db: Database, turn: int, reply: Entry) -> None:
    """Stores a turn's reply so far, instead of the one stored before. Raises `Invalid`."""
    blocks = [block for block in reply.message.blocks if isinstance(block, (Text, Thinking))]
    if len(blocks) < len(reply.message.blocks):
        raise Invalid("A reply that is still being written is kept as text and thinking only; nothing was kept.")
    pairs = [["text" if isinstance(block, Text) else "thinking", block.text] for block in blocks]
    db.run("set_sketch", turn, json.dumps([reply.label, pairs]))


def settle(db: Database, turn: int, now: int) -> int | None:
    """Adds a stored partial reply to its turn as the last message, marked as an error; its number, if there was one."""
    row = db.row("sketch", turn)
    span = None if row is None else lookup.span(db, turn)
    if row is None or span is None:
        return None
    (content,) = row
    label, pairs = json.loads(content)
    blocks = tuple(Text(text) if kind == "text" else Thinking(text) for kind, text in pairs)
    message = Message("assistant", blocks, error=True)
    (entry,) = prepare([message], label)  # its content passed `Store.prepare` when it was kept
    entry.parent = span.last
    saved = insert(db, [entry], now, turn)
    db.run("drop_sketch", turn)
    db.run("cut_turn", saved.last, turn)
    return saved.last


def without_half_reply(db: Database, turn: int, last: int) -> int:
    """The last whole message of a turn: a half reply at its end becomes a side branch, and is not sent again."""
    row = db.row("half_reply", last) if last != turn else None
    if row is None:
        return last
    (whole,) = row
    db.run("cut_turn", whole, turn)
    return int(whole)
