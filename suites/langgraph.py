"""pytest plugin: `BoughSaver` and `AsyncBoughSaver` in the slots of the SQLite savers; other slots are left out."""

from contextlib import asynccontextmanager, contextmanager

import tests.conftest_checkpointer as slots

from bough.adapters.langgraph import AsyncBoughSaver, BoughSaver


@contextmanager
def saver():
    with BoughSaver.from_conn_string(":memory:") as made:
        slots._apply_strict_msgpack(made)
        yield made


@asynccontextmanager
async def async_saver():
    async with AsyncBoughSaver.from_conn_string(":memory:") as made:
        slots._apply_strict_msgpack(made)
        yield made


slots._checkpointer_sqlite = saver
slots._checkpointer_sqlite_aio = async_saver


def is_ours(item):
    values = item.callspec.params if hasattr(item, "callspec") else {}
    return values.get("sync_checkpointer") == "sqlite" or values.get("async_checkpointer") == "sqlite_aio"


def pytest_collection_modifyitems(config, items):
    others = [item for item in items if not is_ours(item)]
    items[:] = [item for item in items if is_ours(item)]
    config.hook.pytest_deselected(items=others)
