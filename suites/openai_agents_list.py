"""pytest plugin: the session of the runner's tests, a list, is kept by `BoughSession`."""

import asyncio
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tests.utils.simple_session as module
from agents.memory.session import Session

from bough.adapters.openai_agents import BoughSession

original = module.SimpleListSession


class SimpleListSession(Session):
    session_settings = None

    def __init__(self, session_id="test", history=None):
        self.session_id = session_id
        self._directory = tempfile.TemporaryDirectory()
        self._kept = BoughSession(session_id, Path(self._directory.name) / "a.db")
        self._ignore_ids_for_matching = False
        if history:
            self._wait(self._kept.add_items(list(history)))

    def _wait(self, awaitable):
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, awaitable).result()

    @property
    def _items(self):
        return self._wait(self._kept.get_items())

    saved_items = _items

    async def get_items(self, limit=None):
        return await self._kept.get_items(limit)

    async def add_items(self, items):
        await self._kept.add_items(items)

    async def pop_item(self):
        return await self._kept.pop_item()

    async def clear_session(self):
        await self._kept.clear_session()


module.SimpleListSession = SimpleListSession
for found in list(vars(module).values()):
    if isinstance(found, type) and issubclass(found, original) and found is not original:
        found.__bases__ = tuple(SimpleListSession if base is original else base for base in found.__bases__)
