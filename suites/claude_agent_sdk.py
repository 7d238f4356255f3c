"""pytest plugin: `BoughSessionStore` in the place of the SDK's store in memory, with what its tests want besides."""

import importlib

import claude_agent_sdk

from bough.adapters.claude_agent_sdk import BoughSessionStore


class InMemorySessionStore(BoughSessionStore):
    def __init__(self):
        super().__init__(":memory:")
        self._mtimes = {}
        """Times that a test sets, in the place of those of the store."""

    def get_entries(self, key):
        return self._load(key) or []

    @property
    def size(self):
        return sum(1 for info in self.store.sessions(delegates=False))

    def clear(self):
        for info in self.store.sessions(delegates=False):
            self.store.delete_session(info.key)

    async def list_sessions(self, project_key):
        found = await super().list_sessions(project_key)
        return [{**one, "mtime": self._mtimes.get(f"{project_key}/{one['session_id']}", one["mtime"])} for one in found]


claude_agent_sdk.InMemorySessionStore = InMemorySessionStore
importlib.import_module("claude_agent_sdk._internal.session_store").InMemorySessionStore = InMemorySessionStore
