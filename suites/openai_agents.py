"""pytest plugin: `BoughSession` in the place of `SQLiteSession`, but not as the base of classes of the SDK."""

import importlib

import agents
import agents.extensions.memory
import agents.memory

from bough.adapters.openai_agents import BoughSession

for name in ("AdvancedSQLiteSession", "AsyncSQLiteSession", "EncryptedSession"):
    getattr(agents.extensions.memory, name)
for module in (agents, agents.memory, importlib.import_module("agents.memory.sqlite_session")):
    module.SQLiteSession = BoughSession
