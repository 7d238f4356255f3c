"""Which process runs a channel: one at a time, and another takes over when it is gone.

Two processes that poll with one token would take messages from each other. The lease is a row of the store, so it holds
across machines on a PostgreSQL server; on one machine the death of its owner is noticed at once.
"""

from __future__ import annotations

from bough.storage.leases import is_dead, new_owner, register, unregister
from bough.store import Store

LEASE = 15_000_000
"""Microseconds."""
RENEW_SECONDS = 5.0


class Leadership:
    """The lease of one channel."""

    def __init__(self, store: Store, channel: str) -> None:
        self._store = store
        self._channel = channel
        self._owner = new_owner(store.db.shared)

    def take(self) -> bool:
        """Take or renew the lease; False while another process has it."""

        register(self._owner)

        def work(now: int) -> bool:
            row = self._store.db.row("channel_lease", self._channel)
            if row is not None and row[0] != self._owner and row[1] > now and not is_dead(row[0]):
                return False
            self._store.db.run("put_channel_lease", self._channel, self._owner, now + LEASE)
            return True

        return self._store.write(work)

    def is_taken(self) -> bool:
        """Whether a process runs the channel now."""
        row = self._store.db.row("channel_lease", self._channel)
        return row is not None and row[1] > self._store.clock() and not is_dead(row[0])

    def give_up(self) -> None:
        """End the lease, so that another process need not wait for its end."""

        def work(now: int) -> None:
            row = self._store.db.row("channel_lease", self._channel)
            if row is not None and row[0] == self._owner:
                self._store.db.run("put_channel_lease", self._channel, self._owner, now)

        self._store.write(work)
        unregister(self._owner)
