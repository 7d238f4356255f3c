"""From the configuration to whoever answers: the model, what it is told, what it may use and how far it may go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bough.errors import ProviderError
from bough.model.values import value

if TYPE_CHECKING:
    from bough.agent import Agent, Bound, ToolSource
    from bough.config import Config
    from bough.model import SessionInfo
    from bough.providers.types import Provider
    from bough.session import Session


@value
class Casting:
    """Who shall answer, as far as the command line says; None leaves it to the session and the configuration."""

    model: str | None = None
    agent: str | None = None
    system: str | None = None
    max_tokens: int | None = None
    timeout: float | None = None


def agent_for(
    config: Config,
    casting: Casting,
    remembered: SessionInfo | None = None,
    tools: Sequence[Bound | ToolSource] = (),
) -> Agent:
    """Who answers: what was said, else what the session remembers, else what is configured.

    Raises `ConfigError` for an agent that is not configured, and `ProviderError` for a model that cannot be asked.
    """
    from bough.agent import Agent, Compaction, Limits

    name = name_of(config, casting, remembered)
    table = table_of(config, name)
    talk = config.table("conversation")
    return Agent(
        provider_for(config, model_of(config, casting, remembered, table), remembered),
        name or "agent",
        table.get("description", ""),
        instructions=system_of(casting, remembered, table),
        tools=tools,
        limits=Limits(steps=table.get("max_steps"), seconds=casting.timeout or table.get("timeout")),
        budget=table.get("budget"),
        max_tokens=casting.max_tokens or table.get("max_tokens"),
        options=table.get("options"),
        compaction=Compaction(talk.get("compact_at"), talk.get("max_messages"), talk["keep_turns"]),
    )


def provider_for(config: Config, model: str, remembered: SessionInfo | None) -> Provider:
    """Who is asked. Raises `ProviderError`, which says so if it is the session that names the model."""
    from bough.providers import find

    try:
        return find(model, config.tables("providers"))
    except ProviderError as error:
        if remembered is None or remembered.model != model:
            raise
        hint = f"{error} The conversation was held with {model!r}; -m NAME asks somebody else from now on."
        raise ProviderError(hint, kind=error.kind) from None


def name_of(config: Config, casting: Casting, remembered: SessionInfo | None) -> str | None:
    """The agent's name. One that a session remembers, and that is not configured any more, is no obstacle."""
    if casting.agent is not None:
        return casting.agent
    if remembered and remembered.agent in config.names("agents"):
        return remembered.agent
    named: str | None = config.get("run.agent")
    return named


def table_of(config: Config, name: str | None) -> dict[str, Any]:
    """The settings of an agent, over those of every run. Raises `ConfigError`."""
    return {**config.table("run"), **(config.table("agents", name) if name else {})}


def model_of(config: Config, casting: Casting, remembered: SessionInfo | None, table: dict[str, Any]) -> str:
    """Which model: the one that was said, the agent's that was said, the session's, the configured, or the default."""
    from bough.providers import default

    if casting.model:
        return casting.model
    if casting.agent and (own := config.table("agents", casting.agent).get("model")):
        return str(own)
    chosen = (remembered.model if remembered else None) or table.get("model")
    return chosen or default(os.environ, config.tables("providers"))


def system_of(casting: Casting, remembered: SessionInfo | None, table: dict[str, Any]) -> str | None:
    """The system prompt; one that was given once holds for its session. An empty one means none."""
    said = casting.system
    if said is None and not casting.agent and remembered and isinstance(remembered.extra, dict):
        said = remembered.extra.get("system")
    return (table.get("system") if said is None else said) or None


def remember(session: Session, casting: Casting, config: Config) -> None:
    """Writes down what was said, so that whoever continues the session need not say it again."""
    info, extra = session.info, None
    if casting.system is not None:
        extra = {**(info.extra or {}), "system": casting.system}
    model = casting.model
    if casting.agent and info.model and not model:  # an agent with a model of its own takes the place of the former one
        model = config.table("agents", casting.agent).get("model")
    if model or casting.agent or extra:
        session.update(model=model, agent=casting.agent, extra=extra)
