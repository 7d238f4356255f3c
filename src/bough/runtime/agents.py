"""Resources of agents while they work: their settings, MCP servers, and the agents they hand tasks to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from threading import RLock
from typing import TYPE_CHECKING

from bough.agent import Agent, Bound, ToolSource, delegate
from bough.model.values import replace
from bough.runtime.settings import AgentOptions, AgentSettings, agent_settings, build_agent, choose_name, store_options

if TYPE_CHECKING:
    from typing import Self

    from bough.agent.mcp import Server, Servers
    from bough.config import Config
    from bough.model import SessionInfo
    from bough.session import Session


class Runtime:
    """Builds agents and owns what they use. Use it in a `with` block: leaving it stops the MCP servers."""

    def __init__(
        self,
        config: Config,
        environment: Callable[[], dict[str, str]] = dict,
        servers: Sequence[str] | None = None,
        tools: Sequence[Bound] = (),
    ) -> None:
        """`environment` is called for the variables that every MCP server gets beside its own.

        `servers` are the MCP servers and tools that every agent has instead of its own; `tools` are added to them.
        """
        self._only = None if servers is None else list(servers)
        self._added = list(tools)
        self.config = config
        self._environment = environment
        self._run = self.config.table("run")
        self._settings: dict[str | None, AgentSettings] = {}
        self._servers: list[Servers] = []
        self._started: set[str] = set()
        self._delegates: dict[str, Agent] = {}
        self._stack = ExitStack()
        # Delegates work in threads of their own. `start` and `delegate` read settings while they hold the lock.
        self._lock = RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._stack.close()

    def agent(self, options: AgentOptions, session: SessionInfo | None = None, *, start_servers: bool = True) -> Agent:
        """Build the agent for a session. Without `start_servers`, MCP servers start when their tools are first listed.

        Raises `ConfigError` for an agent that is not configured, `ProviderError` for a model that cannot be used, and
        `ToolError` for an MCP server that does not start.
        """
        settings = self.settings(choose_name(self.config, options, session))
        names = self.reachable(settings.name)
        agent = build_agent(self.config, settings, options, session, self.tools(settings))
        if start_servers:
            self.start(names)
        return agent

    def settings(self, name: str | None) -> AgentSettings:
        """The settings of an agent, read once. Raises `ConfigError` for one that is not configured."""
        with self._lock:
            if name not in self._settings:
                found = agent_settings(self.config, self._run, name)
                only = {} if self._only is None else {"tools": self._only}
                self._settings[name] = replace(found, values={**found.values, **only})
            return self._settings[name]

    def store_options(self, session: Session, options: AgentOptions) -> None:
        """Store the flags in the session, so that they apply when it is continued."""
        store_options(session, options, self.settings(options.agent))

    def tools(self, settings: AgentSettings) -> list[Bound | ToolSource]:
        """The tools of an agent, listed when they are needed."""
        return [*self._added, ServerTools(self, settings.name), DelegateTools(self, settings.delegates)]

    def server_tools(self, name: str | None) -> list[Bound]:
        """The tools of MCP servers that an agent may use."""
        self.start([name])
        only = self.settings(name).values.get("tools")
        return [bound for servers in self._servers for bound in servers.tools(only)]

    def start(self, names: Iterable[str | None]) -> None:
        """Start the MCP servers of these agents that are not running. Raises `ToolError`."""
        with self._lock:
            missing = [one for one in self._servers_of(names) if one.name not in self._started]
            if missing:
                from bough.agent.mcp import Servers

                self._servers.append(self._stack.enter_context(Servers(missing)))
                self._started |= {one.name for one in missing}

    def delegate(self, name: str) -> Agent:
        """An agent to hand tasks to, built once."""
        with self._lock:
            if name not in self._delegates:
                settings = self.settings(name)
                agent = build_agent(self.config, settings, AgentOptions(agent=name), None, self.tools(settings))
                self._stack.callback(agent.provider.close)
                self._delegates[name] = agent
            return self._delegates[name]

    def reachable(self, name: str | None) -> list[str | None]:
        """An agent, its delegates, theirs, and so on. Raises `ConfigError` for one that is not configured."""
        found: list[str | None] = [name]
        for one in found:
            found += [other for other in self.settings(one).delegates if other not in found]
        return found

    def _servers_of(self, names: Iterable[str | None]) -> list[Server]:
        """The configured servers that at least one of these agents may use."""
        tables = self.config.tables("mcp")
        if not tables:
            return []
        from bough.agent.mcp import Server
        from bough.agent.mcp.tool_servers import is_wanted

        lists = [self.settings(name).values.get("tools") for name in names]
        wanted = {one: table for one, table in tables.items() if any(is_wanted(one, None, only) for only in lists)}
        env = self._environment()
        return [Server.of(one, {**table, "env": {**env, **table.get("env", {})}}) for one, table in wanted.items()]


class ServerTools:
    """The tools of MCP servers that one agent may use."""

    def __init__(self, runtime: Runtime, name: str | None) -> None:
        self._runtime = runtime
        self._name = name

    def tools(self) -> list[Bound]:
        """The tools that the servers offer now."""
        return self._runtime.server_tools(self._name)


class DelegateTools:
    """Other agents, as tools. They are built at first use, because two agents may be each other's delegates."""

    def __init__(self, runtime: Runtime, names: Sequence[str]) -> None:
        self._runtime = runtime
        self._names = names

    def tools(self) -> list[Bound]:
        """One tool for each agent."""
        return [delegate(self._runtime.delegate(name)) for name in self._names]
