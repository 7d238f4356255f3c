"""Who may talk to a channel, and how much: a list that is closed when it is empty, codes that let somebody in, limits.

A stranger is not answered. A code, made on the command line, is sent to the bot by the person that it is for; it lets
in one person, for good, and only for a while. Only its hash is stored.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from hashlib import sha256
from typing import NamedTuple

from bough.errors import NotFound
from bough.model import Usage
from bough.model.times import moment, span
from bough.model.values import value
from bough.store import Store

CODE_BYTES = 10
CODE_SECONDS = 15 * 60
TRIES = 5
"""Wrong codes that a stranger may send before the bot stops looking at what they send."""


class Member(NamedTuple):
    """Somebody who was let in with a code."""

    member: str
    name: str
    admitted_at: int


@value
class SpendingLimits:
    """What one member may spend in a day (UTC); None means no limit."""

    tokens: int | None = None
    cost: float | None = None


NO_LIMITS = SpendingLimits()


class Members:
    """The members of one channel."""

    def __init__(
        self, store: Store, channel: str, allowed: Collection[str] = (), limits: SpendingLimits = NO_LIMITS
    ) -> None:
        self._store = store
        self._channel = channel
        self._allowed = frozenset(allowed)
        self._limits = limits
        self._failures: dict[str, int] = {}

    def allows(self, *subjects: str) -> bool:
        """Whether one of these, a person and the chats that they are in, may talk."""
        if not self._allowed.isdisjoint(subjects):
            return True
        return any(member.member in subjects for member in self.admitted())

    def admitted(self) -> list[Member]:
        """Those who were let in with a code, the first one first."""
        return [Member(*row) for row in self._store.db.rows("channel_members", self._channel)]

    def make_code(self) -> str:
        """A new code, valid once and for a quarter of an hour."""
        code = secrets.token_hex(CODE_BYTES)
        ends = span(CODE_SECONDS, "expires")
        self._store.write(
            lambda now: self._store.db.run("insert_channel_code", self._channel, hash_of(code), now + ends)
        )
        return code

    def admit(self, code: str, member: str, name: str) -> bool:
        """Let somebody in who has a valid code; False for any other, and for anybody who has tried too often."""
        if self._failures.get(member, 0) >= TRIES:
            return False

        def work(now: int) -> bool:
            db, hashed = self._store.db, hash_of(code.strip())
            row = db.row("channel_code", self._channel, hashed)
            if row is None or row[0] <= now:
                return False
            db.run("delete_channel_codes", self._channel, hashed, now)
            db.run("put_channel_member", self._channel, member, name, now)
            return True

        is_admitted = self._store.write(work)
        if not is_admitted:
            self._failures[member] = self._failures.get(member, 0) + 1
        return is_admitted

    def remove(self, member: str) -> None:
        """Take back what a code has given. Raises `NotFound`."""
        if all(one.member != member for one in self.admitted()):
            raise NotFound(f"{member!r} was not let in with a code; the configuration lists the others.")
        self._store.write(lambda _: self._store.db.run("delete_channel_member", self._channel, member))

    def spent(self, member: str, now: int) -> tuple[int, float]:
        """The tokens and the cost of a member today."""
        row = self._store.db.row("channel_spending", self._channel, member, day(now))
        return (0, 0.0) if row is None else (row[0], row[1])

    def charge(self, member: str, usage: Usage, now: int) -> None:
        """Add what an answer has cost, inside a transaction."""
        tokens, cost = self.spent(member, now)
        tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        self._store.db.run("put_channel_spending", self._channel, member, day(now), tokens, cost + (usage.cost or 0.0))

    def refusal(self, member: str, now: int) -> str | None:
        """Why a member must wait until tomorrow; None while there is something left."""
        tokens, cost = self.spent(member, now)
        if self._limits.cost is not None and cost >= self._limits.cost:
            return f"Today's limit of ${self._limits.cost:g} is used up; it starts again at midnight UTC."
        if self._limits.tokens is not None and tokens >= self._limits.tokens:
            return f"Today's limit of {self._limits.tokens:,} tokens is used up; it starts again at midnight UTC."
        return None


def hash_of(code: str) -> bytes:
    return sha256(code.encode("utf-8", "replace")).digest()


def day(now: int) -> str:
    return moment(now).date().isoformat()
