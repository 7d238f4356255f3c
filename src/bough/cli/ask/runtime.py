"""The agents of a command: those of its configuration, in its store."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bough.runtime.agents import Runtime

if TYPE_CHECKING:
    from bough.cli.locate import Locator


def agents_of(locator: Locator) -> Runtime:
    """The agents of the configuration that a command uses. Raises `ConfigError`."""
    return Runtime(locator.settings(), lambda: server_environment(locator))


def server_environment(locator: Locator) -> dict[str, str]:
    """Variables for an MCP server that is bough itself: it uses the same store and configuration."""
    found = locator.find()
    is_file = found.path is not None and found.where != ":memory:"
    store = os.path.abspath(os.path.expanduser(found.where)) if is_file else found.where
    config = locator.settings().path
    return {"BOUGH_DB": store} | ({"BOUGH_CONFIG": str(config)} if config.is_file() else {})
