"""pytest plugin: the tests of Strands' file manager that do not look at files, on `BoughSessionRepository`."""

import inspect
import re

from bough.adapters.strands import BoughSessionRepository

FILES = re.compile(r"manager\._|open\(|os\.path|patch\(|FileSessionManager\(|temp_dir|os\.chmod")


def pytest_collection_modifyitems(config, items):
    others = [item for item in items if FILES.search(inspect.getsource(item.function))]
    items[:] = [item for item in items if item not in others]
    config.hook.pytest_deselected(items=others)
    for item in items:
        for name in ("file_manager", "multi_agent_manager"):
            if fixtures := item._fixtureinfo.name2fixturedefs.get(name):
                fixtures[-1].func = lambda: BoughSessionRepository(":memory:")
                fixtures[-1].argnames = ()
