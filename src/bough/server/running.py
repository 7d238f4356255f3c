"""The responses that this process is writing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from bough.errors import BoughError
from bough.server.deltas import delta

if TYPE_CHECKING:
    from bough.server.context import ServerContext
    from bough.server.openai.generation import Generation
    from bough.server.stores import ServedStore

LEASE = 120.0
"""Seconds after which a response whose server is gone counts as failed, where nothing else can tell."""
CANCEL = "response_cancel"
"""The field of a turn's metadata in which another process asks for an end."""
POLL = 1.0


class Running:
    """Responses by the namespace and the id; it renews their leases, and ends them when the server stops."""

    def __init__(self) -> None:
        self._all: dict[tuple[ServedStore, str], Generation] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def find(self, store: ServedStore, id: str) -> Generation | None:
        """A response that is being written here."""
        return self._all.get((store, id))

    def add(self, store: ServedStore, generation: Generation, context: ServerContext) -> None:
        """Start to write a response."""
        self._all[store, generation.id] = generation
        if (turn := generation.turn) is not None:
            generation.on_piece = lambda piece: context.api.feeds.publish(
                store, "turn.delta", delta(piece, turn.session.key, turn.id)
            )
        task = asyncio.create_task(self._attend(store, generation, context))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        generation.start()

    async def _attend(self, store: ServedStore, generation: Generation, context: ServerContext) -> None:
        """Watch over a response until it ends."""
        with store.in_use():
            try:
                await self._wait(store, generation)
            finally:
                self._all.pop((store, generation.id), None)
            context.metrics.count_tokens(generation.request.model or "", generation.usage)

    async def _wait(self, store: ServedStore, generation: Generation) -> None:
        pause, since = POLL if generation.request.background else LEASE / 4, 0.0
        while not generation.finished.done():
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(generation.finished), pause)
                return
            since += pause
            if since >= LEASE / 4:
                since = 0.0
                await store.call(lambda _: generation.keep_alive())
            if generation.request.background and await store.call(lambda _: _is_cancelled(generation)):
                generation.end("cancelled")

    async def stop(self, seconds: float) -> None:
        """Wait for all responses, and interrupt those that take longer."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_finished(), seconds)
        for generation in list(self._all.values()):
            generation.end("interrupted")
        with suppress(TimeoutError):
            await asyncio.wait_for(self._all_finished(), 2.0)

    async def _all_finished(self) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))


def _is_cancelled(generation: Generation) -> bool:
    try:
        metadata = generation.turn.info.metadata if generation.turn is not None else None
    except BoughError:
        return False  # it was deleted: the next write says so
    return isinstance(metadata, dict) and bool(metadata.get(CANCEL))


@asynccontextmanager
async def ended_with_client(generation: Generation) -> AsyncIterator[None]:
    """A response that nobody waits for any more is interrupted, unless it is in the background."""
    try:
        yield
    finally:
        if not generation.request.background and not generation.finished.done():
            generation.end("interrupted")
