"""What the API of one server remembers between requests."""

from __future__ import annotations

from bough.server.api.feed import Feeds
from bough.server.api.repeats import Repeats


class ApiState:
    """The live feeds, and the answers that may be asked for again."""

    def __init__(self) -> None:
        self.feeds = Feeds()
        self.repeats = Repeats()
