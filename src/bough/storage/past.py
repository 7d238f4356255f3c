"""Reads as of a time: what was there, and where the sessions had their heads.

Messages never change, so the past of a tree is what is not later. The heads are found in the order of changes; before
the oldest change that is kept, a session is at the last turn of its dialog that had ended. What was deleted since is
not found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from bough.codec import column
from bough.db import Database
from bough.model import Headline, SessionInfo
from bough.model.values import replace
from bough.storage import leases, lookup, sessions, turns

MOVES = ("added", "ended", "moved", "compacted", "created", "cleared", "restored")
"""The kinds of changes with which a head may move."""


class LoggedChange(NamedTuple):
    """A row of `changes_of_sessions`."""

    session: str
    at: int
    kind: str
    message: str | None


class Past:
    """The store as of a time, inclusive, in microseconds."""

    def __init__(self, db: Database, time: int, session: str | None = None) -> None:
        """Reads the changes of all sessions, or of one."""
        self.db = db
        self.time = time
        self._logs: dict[str, list[LoggedChange]] = {}
        for row in db.rows("changes_of_sessions", column(session)):
            self._logs.setdefault(row[0], []).append(LoggedChange(*row))

    def head(self, key: str) -> int | None:
        """The number of the message where a session had its head. Raises `NotFound`."""
        session = leases.session_state(self.db, key)
        log = self._logs.get(key, [])
        if not any(change.at > self.time and change.kind in MOVES for change in log):
            return self._not_later(session.head) if log else self._last_turn(session.n)
        log = [change for change in log if change.at <= self.time]
        for place in range(len(log) - 1, -1, -1):
            change = log[place]
            if change.kind == "cleared" or (change.kind == "moved" and change.message is None):
                return None
            found = self._head_after(change, log[:place])
            if found is not None:
                return self._not_later(found)
        return self._last_turn(session.n)

    def info(self, key: str) -> SessionInfo | None:
        """A session with the head and the last use that it had; None if it did not exist."""
        known = sessions.find(self.db, key)
        return next(iter(self.infos([known])), None) if known else None

    def infos(self, known: Iterable[SessionInfo]) -> list[SessionInfo]:
        """Those of these sessions that existed, with the heads that they had, in the order of last use."""
        found = []
        for info in known:
            ((used,),) = self.db.rows("last_use_before", leases.session_state(self.db, info.key).n, self.time)
            if used is None and info.created_at > self.time:
                continue  # an imported one may be created after its turns
            head, used = lookup.id_of(self.db, self.head(info.key)), info.created_at if used is None else used
            found.append(replace(info, head_id=head, updated_at=used))
        return sorted(found, key=lambda info: -info.updated_at)

    def heads(self) -> dict[int, tuple[str, ...]]:
        """The messages where sessions had their heads, and the keys of these."""
        there: dict[int, tuple[str, ...]] = {}
        for (key,) in self.db.rows("keys_by_use"):
            if (head := self.head(key)) is not None:
                there[head] = (*there.get(head, ()), key)
        return there

    def headlines(self, found: Iterable[Headline]) -> list[Headline]:
        """Those of messages that were there, with the sessions that had their heads there."""
        heads = self.heads()
        ids = lookup.ids_of(self.db, heads)
        there = {ids[n]: keys for n, keys in heads.items()}
        return [
            replace(line, sessions=there.get(line.id, ())) for line in found if line.created_at <= self.time
        ]  # fmt: skip

    def _head_after(self, change: LoggedChange, before: Sequence[LoggedChange]) -> int | None:
        """The message that a change moved the head to; None for a change that did not, or to one that is deleted."""
        if change.message is None or change.kind not in MOVES or change.kind == "restored":
            return None
        n = lookup.number_of(self.db, change.message)
        if n is None or change.kind not in ("added", "ended"):
            return n
        header = lookup.header(self.db, n)
        span = lookup.span(self.db, header.turn) if header else None
        if change.kind == "ended":
            return span.last if span is not None and span.status in turns.IN_DIALOG else None
        if span is not None and (_has_open_turn(before) or span.status not in turns.IN_DIALOG):
            return None
        return n

    def _last_turn(self, session: int) -> int | None:
        row = self.db.row("last_turn_before", session, self.time)
        return None if row is None else self._not_later(row[0])

    def _not_later(self, n: int | None) -> int | None:
        """The message, or the nearest before it that was there."""
        header = lookup.header(self.db, n)
        while header is not None and header.created_at > self.time:
            header = lookup.header(self.db, header.parent)
        return None if header is None else header.n


def _has_open_turn(log: Sequence[LoggedChange]) -> bool:
    """Whether the last turn in a log has not ended."""
    return next((change.kind == "opened" for change in reversed(log) if change.kind in ("opened", "ended")), False)
