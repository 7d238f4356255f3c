"""The agents of a command: those of its configuration, in its store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bough.runtime.agents import Runtime

if TYPE_CHECKING:
    from bough.cli.locate import Locator


def agents_of(locator: Locator, tools: Sequence[str] = ()) -> Runtime:
    """The agents of the configuration that a command uses, with the tools that `--tools` names instead of their own.

    Raises `ConfigError`, and `NotFound` for a tool that does not exist.
    """
    from bough.cli.ask.tools import NONE, function_tools, is_function

    config = locator.settings()
    servers = [name for name in tools if not is_function(name) and name != NONE]
    for name in servers:
        config.table("mcp", name.partition(".")[0])  # an unknown server is an error, and not no tools
    only = servers if tools else None
    return Runtime(config, lambda: server_environment(locator), only, function_tools(tools))


def server_environment(locator: Locator) -> dict[str, str]:
    """Variables for an MCP server that is bough itself: it uses the same store and configuration."""
    found = locator.find()
    is_file = found.path is not None and found.where != ":memory:"
    store = os.path.abspath(os.path.expanduser(found.where)) if is_file else found.where
    config = locator.settings().path
    return {"BOUGH_DB": store} | ({"BOUGH_CONFIG": str(config)} if config.is_file() else {})
