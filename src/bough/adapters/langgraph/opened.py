"""The savers for programs with and without an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from bough.adapters.common import open_store
from bough.adapters.langgraph.saver import Checkpoints

if TYPE_CHECKING:
    from bough.db import StrPath


class BoughSaver(Checkpoints):
    """A checkpoint saver: `with BoughSaver.from_conn_string("chat.db") as saver`, or `BoughSaver(store)`."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: StrPath) -> Iterator[BoughSaver]:
        """A saver on a file, `:memory:`, or the URL of a server, until the `with` block ends."""
        store, _ = open_store(conn_string, None)
        with store:
            yield cls(store)


class AsyncBoughSaver(Checkpoints):
    """`BoughSaver` for an event loop: `async with AsyncBoughSaver.from_conn_string("chat.db") as saver`."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn_string: StrPath) -> AsyncIterator[AsyncBoughSaver]:
        """A saver on a file, `:memory:`, or the URL of a server, until the `async with` block ends."""
        store, _ = await asyncio.to_thread(open_store, conn_string, None)
        try:
            yield cls(store)
        finally:
            await asyncio.to_thread(store.close)
