"""What only some sessions reach: the messages that go when they go."""

from __future__ import annotations

from collections.abc import Sequence

from bough.codec import json_list
from bough.db import Database
from bough.storage import lookup
from bough.storage.turns import State


def reached_only_by(db: Database, sessions: Sequence[State]) -> list[int]:
    """The paths and side branches of these sessions, less what others stand on, have begun or have continued."""
    family = {session.n for session in sessions}
    own: set[int] = set()
    for session in sessions:
        own |= {n for (n,) in db.rows("steps_of_session", session.n)}
        if session.head is not None:
            own |= set(lookup.ancestors(db, session.head))
    everything = json_list(own)
    needed = {at for n, at in db.rows("sessions_at", everything, None) if n not in family}
    needed |= {n for n, session in db.rows("sessions_of_messages", everything) if session not in family}
    needed |= {parent for parent, n in db.rows("children_of_any", everything) if n not in own}
    kept: set[int] = set()
    for n in needed:
        if n not in kept:
            kept |= set(lookup.ancestors(db, n))
    return sorted(own - kept)
