"""Whoever answers, with what they may use: the tools of MCP servers, and other agents to hand tasks to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from threading import Lock
from typing import TYPE_CHECKING

from bough.agent import Agent, Bound, ToolSource, delegate
from bough.cli.ask.agent import Casting, agent_for, name_of, table_of

if TYPE_CHECKING:
    from typing import Self

    from bough.agent.mcp import Server, Servers
    from bough.cli.locate import Locator
    from bough.config import Config
    from bough.model import SessionInfo


class Crew:
    """Everyone who may come to work. Use it in a `with` block: what was started for them ends with it."""

    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._config = locator.settings()
        self._servers: list[Servers] = []
        self._started: set[str] = set()
        self._colleagues: dict[str, Agent] = {}
        self._stack = ExitStack()
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._stack.close()

    def cast(self, casting: Casting, remembered: SessionInfo | None = None, *, at_once: bool = True) -> Agent:
        """Whoever answers, with everything at hand. MCP servers are started at once, or when they are first wanted.

        Raises what `agent_for` raises, `ConfigError` for a colleague that is not configured, and `ToolError` for an MCP
        server that does not start.
        """
        name = name_of(self._config, casting, remembered)
        names = everyone(self._config, name)
        agent = agent_for(self._config, casting, remembered, self.tools(name))
        if at_once:
            self.start(names)
        return agent

    def tools(self, name: str | None) -> list[ToolSource]:
        """What an agent may use."""
        return [Shelf(self, name), Colleagues(self, colleagues(self._config, name))]

    def from_servers(self, name: str | None) -> list[Bound]:
        """The tools of MCP servers that an agent may use now."""
        self.start([name])
        only = table_of(self._config, name).get("tools")
        return [bound for servers in self._servers for bound in servers.tools(only)]

    def start(self, names: Iterable[str | None]) -> None:
        """Starts the MCP servers that these agents may use, unless they are at work already. Raises `ToolError`."""
        with self._lock:
            missing = [one for one in servers_of(self._locator, names) if one.name not in self._started]
            if missing:
                from bough.agent.mcp import Servers

                self._servers.append(self._stack.enter_context(Servers(missing)))
                self._started |= {one.name for one in missing}

    def colleague(self, name: str) -> Agent:
        """Someone to hand a task to, by name."""
        with self._lock:
            if name not in self._colleagues:
                agent = agent_for(self._config, Casting(agent=name), None, self.tools(name))
                self._stack.callback(agent.provider.close)
                self._colleagues[name] = agent
            return self._colleagues[name]


class Shelf:
    """The tools of MCP servers that one agent may use."""

    def __init__(self, crew: Crew, name: str | None) -> None:
        self._crew = crew
        self._name = name

    def tools(self) -> list[Bound]:
        """Those that are there now."""
        return self._crew.from_servers(self._name)


class Colleagues:
    """Other agents, as tools. They are made when they are first wanted: two may be each other's."""

    def __init__(self, crew: Crew, names: Sequence[str]) -> None:
        self._crew = crew
        self._names = names

    def tools(self) -> list[Bound]:
        """One tool for each."""
        return [delegate(self._crew.colleague(name)) for name in self._names]


def colleagues(config: Config, name: str | None) -> list[str]:
    """The agents to whom an agent may hand tasks. Those of every run are not those of every agent."""
    table = config.table("agents", name) if name else config.table("run")
    return [str(one) for one in table.get("agents", ())]


def everyone(config: Config, name: str | None) -> list[str | None]:
    """An agent, and all who may come to work for it. Raises `ConfigError` for one that is not configured."""
    found: list[str | None] = [name]
    for one in found:
        found += [other for other in colleagues(config, one) if other not in found]
    return found


def servers_of(locator: Locator, names: Iterable[str | None]) -> list[Server]:
    """The servers of the configuration that at least one of these agents may use."""
    config = locator.settings()
    tables = config.tables("mcp")
    if not tables:
        return []
    from bough.agent.mcp import Server
    from bough.agent.mcp.tool_servers import is_wanted

    lists = [table_of(config, name).get("tools") for name in names]
    wanted = {one: table for one, table in tables.items() if any(is_wanted(one, None, only) for only in lists)}
    around = surroundings(locator)
    return [Server.of(one, {**table, "env": {**around, **table.get("env", {})}}) for one, table in wanted.items()]


def surroundings(locator: Locator) -> dict[str, str]:
    """Where things are, for a server that is bough itself: its runs belong into the same store."""
    found = locator.find()
    is_file = found.path is not None and found.where != ":memory:"
    where = {"BOUGH_DB": os.path.abspath(os.path.expanduser(found.where)) if is_file else found.where}
    return where | ({"BOUGH_CONFIG": str(config)} if (config := locator.settings().path).is_file() else {})
