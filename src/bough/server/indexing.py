"""Keep the search index up to date in the background, so that no search has to wait for it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.server.context import ServerContext

PAUSE = 5.0
"""Seconds between two looks at what is new."""


async def keep_indexed(context: ServerContext) -> None:
    """Index what is new in the server's own store, from start-up on, page by page, until the server stops."""
    while not context.stopping.is_set():
        with suppress(BoughError):  # a store that is full or busy now is looked at again
            home = await context.stores.home()
            await asyncio.to_thread(home.sync.index)
        with suppress(TimeoutError):
            await asyncio.wait_for(context.stopping.wait(), PAUSE)
