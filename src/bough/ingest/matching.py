"""Whether a message that is told is one that is stored: under another name, or with more to say than before."""

from __future__ import annotations

from bough.codec.digest import digest
from bough.db import Database
from bough.model import Message
from bough.model.imported import Said
from bough.model.values import value

SECOND = 1_000_000


@value
class Known:
    """What the store has under a name; `n` is None when it was deleted here."""

    n: int | None
    digest: bytes | None = None
    continued: bool = False


def twin(db: Database, said: Said, parent: int | None, now: int) -> int | None:
    """The stored message that says the same in the same place at the same time: a replay under a new name."""
    # A time to the second proves nothing: two subagents may be asked the same in the same second.
    if said.created_at is None or said.created_at % SECOND == 0:
        return None
    above = _above(db, parent)
    mine = digest(said.message, above[0])
    time = max(min(said.created_at, now), above[1] + 1)
    if parent is None:
        alike = [n for (n,) in db.rows("roots_by_digest", mine)]
    else:
        alike = [n for n, other in db.rows("steps_below", parent) if other == mine]
    return next((n for n in alike if (row := db.row("step", n)) and row[5] == time), None)


def is_outgrown(db: Database, known: Known, message: Message, parent: int | None) -> bool:
    """Whether a message has more blocks now than when it was brought in, and nothing follows it here yet."""
    if known.continued or known.n is None or (parent is not None and parent >= known.n):
        return False
    before, _ = _above(db, parent)
    if digest(message, before) == known.digest:
        return False
    beginnings = (message.blocks[:size] for size in range(len(message.blocks)))
    return any(digest(Message(message.role, some, message.error), before) == known.digest for some in beginnings)


def _above(db: Database, parent: int | None) -> tuple[bytes, int]:
    """The digest and the time of the message before; of nothing, before the first."""
    row = db.row("step", parent) if parent is not None else None
    return (row[2], row[5]) if row else (b"", 0)
