"""The stores of a server: the one it was started with, and those of the namespaces that its tokens open."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from bough.aio import AsyncStore
from bough.errors import Busy

if TYPE_CHECKING:
    from bough.store import Store

P = ParamSpec("P")
R = TypeVar("R")
MOST = 200
"""Namespaces that are open at the same time."""


class ServedStore(AsyncStore):
    """A store, awaitable; `call` runs any function on it in one of its threads."""

    users: int = 0
    """Requests that use it; it stays open for them."""

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Keeps the store open during a request."""
        self.users += 1
        try:
            yield
        finally:
            self.users -= 1

    async def call(self, work: Callable[Concatenate[Store, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work(store, …)` in a thread of this store."""
        return await self._hop(work, self.sync, *args, **kwargs)


class Stores:
    """Opens stores by namespace when they are first asked for, and keeps those that were used last."""

    def __init__(self, open_: Callable[[str | None], Store]) -> None:
        self._open = open_
        self._opened: OrderedDict[str | None, ServedStore] = OrderedDict()
        self._lock = asyncio.Lock()

    async def home(self) -> ServedStore:
        """The store that the server was started with."""
        return await self.of(None)

    async def of(self, tenant: str | None) -> ServedStore:
        """The store of a namespace. Raises what opening it raises, and `Busy` when too many are in use."""
        if (known := self._opened.get(tenant)) is not None:
            self._opened.move_to_end(tenant)
            return known
        async with self._lock:
            if (known := self._opened.get(tenant)) is not None:
                return known
            await self._make_room()
            opened = await asyncio.to_thread(self._open, tenant)
            opened.reads_ahead = True
            served = ServedStore(opened, ThreadPoolExecutor(opened.db.concurrency, "bough"))
            self._opened[tenant] = served
            return served

    async def _make_room(self) -> None:
        if len(self._opened) < MOST:
            return
        unused = next((name for name, store in self._opened.items() if name is not None and not store.users), ...)
        if unused is ...:
            raise Busy(f"{MOST} namespaces are in use; try again.")
        await self._opened.pop(unused).close()

    async def close(self) -> None:
        """Close all stores."""
        for store in self._opened.values():
            await store.close()
        self._opened.clear()
