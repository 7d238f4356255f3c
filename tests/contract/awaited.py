"""The awaitable verbs, driven as if they were not: one suite then proves both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from typing import Any

from bough import aio


class Awaited:
    """Looks like a `Store`, a `Session` or a `Turn`; every verb runs through the awaitable one."""

    def __init__(self, facade: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._facade = facade
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._facade, name)
        if callable(value):
            return lambda *args, **kwargs: self._settle(value(*map(self._plain, args), **kwargs))
        return self._settle(value)

    def __enter__(self) -> Awaited:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._loop.run_until_complete(self._facade.__aexit__(kind, error, trace))

    def _plain(self, value: Any) -> Any:
        return value._facade if isinstance(value, Awaited) else value

    def _settle(self, value: Any) -> Any:
        value = self._loop.run_until_complete(value) if inspect.isawaitable(value) else value
        if isinstance(value, aio.AsyncTurn) and not value.is_open:
            self._loop.run_until_complete(value.__aenter__())
        if isinstance(value, AsyncIterator):
            return iter(self._loop.run_until_complete(_all(value)))
        return Awaited(value, self._loop) if isinstance(value, aio._Facade) else value


async def _all(items: AsyncIterator[Any]) -> list[Any]:
    return [item async for item in items]
