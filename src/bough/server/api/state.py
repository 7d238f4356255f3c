"""What the API of one server remembers between requests."""

from __future__ import annotations

from bough.server.api.feed import Feeds
from bough.server.api.repeats import Repeats
from bough.server.api.turn_runs import TurnRuns


class ApiState:
    """The live feeds, the answers that may be asked for again, and the turns that run."""

    def __init__(self) -> None:
        self.feeds = Feeds()
        self.repeats = Repeats()
        self.turns = TurnRuns()

    async def close(self) -> None:
        """Interrupt what is running."""
        await self.turns.close()
