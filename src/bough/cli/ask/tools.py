"""The tools that `--tools` names: MCP servers of the configuration, and Python functions."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from bough.errors import NotFound

if TYPE_CHECKING:
    from bough.agent import Bound

NONE = "none"
"""No tools at all."""


def is_function(name: str) -> bool:
    """Whether a name is `module:function` or `file.py:function`, or a file with functions."""
    return ":" in name or name.endswith(".py")


def function_tools(names: Sequence[str]) -> list[Bound]:
    """The functions that are named, as tools. Raises `NotFound`, and `Invalid` for a signature that cannot be one."""
    from bough.agent import tool

    return [tool(function) for name in names if is_function(name) for function in find_functions(name)]


def find_functions(name: str) -> list[Callable[..., Any]]:
    """The function of `module:function`; without a function, the public ones that a file defines."""
    where, function = (name, "") if name.endswith(".py") else name.rsplit(":", 1)
    module = load(where)
    if function:
        found = getattr(module, function, None)
        if not callable(found):
            raise NotFound(f"There is no function {function!r} in {where!r}; nothing was asked.")
        return [found]
    own = [one for key, one in vars(module).items() if not key.startswith("_") and callable(one)]
    return [one for one in own if getattr(one, "__module__", None) == module.__name__ and not isinstance(one, type)]


def load(where: str) -> Any:
    """Import a module, or run a file, which only a user who names it does. Raises `NotFound`."""
    try:
        if not where.endswith(".py"):
            sys.path.insert(0, os.getcwd())
            return importlib.import_module(where)
        spec = importlib.util.spec_from_file_location(f"bough_tools_{abs(hash(where))}", os.path.expanduser(where))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    except (ImportError, OSError, SyntaxError) as error:
        raise NotFound(f"The tools {where!r} cannot be loaded: {error}. Nothing was asked.") from None
    return module
