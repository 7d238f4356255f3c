"""What the API of one server remembers between requests."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from bough.errors import BoughError
from bough.server.api.cursors import Cursors
from bough.server.api.feed import Feeds
from bough.server.api.imports import Jobs
from bough.server.api.repeats import Repeats
from bough.server.api.turn_runs import TurnRuns

if TYPE_CHECKING:
    from bough.server.context import ServerContext
    from bough.server.stores import ServedStore


class ApiState:
    """The live feeds, the answers that may be asked for again, and the turns that run."""

    def __init__(self) -> None:
        self.feeds = Feeds()
        self.repeats = Repeats()
        self.turns = TurnRuns()
        self.jobs = Jobs()
        self._cursors: Cursors | None = None
        self._indexing: dict[ServedStore, asyncio.Task[None]] = {}

    def cursors(self, context: ServerContext) -> Cursors:
        """What makes and reads the cursors of this server."""
        if self._cursors is None:
            self._cursors = Cursors(context.settings.token)
        return self._cursors

    def index(self, store: ServedStore) -> None:
        """Bring a search index up to date in the background."""
        if store in self._indexing:
            return

        async def work() -> None:
            try:
                with store.in_use(), suppress(BoughError):
                    await store.index()
            finally:
                del self._indexing[store]

        self._indexing[store] = asyncio.create_task(work())

    async def close(self) -> None:
        """Interrupt what is running."""
        await self.turns.close()
