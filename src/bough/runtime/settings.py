"""Build the agent that answers from the flags, the session and the configuration, in this order of precedence."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bough.errors import ProviderError
from bough.model import Json
from bough.model.values import value
from bough.providers.request_options import effort, merged, nested, structured_output

if TYPE_CHECKING:
    from bough.agent import Agent, Bound, ToolSource
    from bough.config import Config
    from bough.model import SessionInfo
    from bough.providers.types import Provider
    from bough.session import Session


@value
class AgentOptions:
    """Flags that choose and configure the agent; None leaves it to the session and the configuration."""

    model: str | None = None
    agent: str | None = None
    system: str | None = None
    max_tokens: int | None = None
    timeout: float | None = None
    options: Mapping[str, Json] = {}  # never changed
    """Fields of every request; dotted names reach into objects. `max_tokens` and `reasoning_effort` fit every API."""
    schema: dict[str, Json] | None = None
    """The JSON Schema of the answer."""


@value
class AgentSettings:
    """Configuration of one agent; without a name, of every run."""

    name: str | None
    own: dict[str, Any]
    """`[agents.NAME]`, or `[run]` without a name."""
    values: dict[str, Any]
    """`own` over `[run]`."""

    @property
    def delegates(self) -> list[str]:
        """The agents that this one may hand tasks to. It does not inherit those of `[run]`."""
        return [str(name) for name in self.own.get("agents", ())]


def agent_settings(config: Config, run: dict[str, Any], name: str | None) -> AgentSettings:
    """The settings of an agent over those of `[run]`. Raises `ConfigError` for one that is not configured."""
    own = config.table("agents", name) if name else run
    return AgentSettings(name, own, {**run, **own})


def build_agent(
    config: Config,
    settings: AgentSettings,
    options: AgentOptions,
    session: SessionInfo | None = None,
    tools: Sequence[Bound | ToolSource] = (),
) -> Agent:
    """The agent for a session. Raises `ProviderError` for a model that cannot be used."""
    from bough.agent import Agent, Compaction, Limits

    values, conversation = settings.values, config.table("conversation")
    provider = find_provider(config, choose_model(config, settings, options, session), session)
    fields = request_fields(provider.format, options)
    return Agent(
        provider,
        settings.name or "agent",
        values.get("description", ""),
        instructions=choose_system(settings, options, session),
        tools=tools,
        limits=Limits(steps=values.get("max_steps"), seconds=options.timeout or values.get("timeout")),
        budget=values.get("budget"),
        max_tokens=options.max_tokens or fields.pop("max_tokens", None) or values.get("max_tokens"),
        options=merged(values.get("options") or {}, fields) or None,
        compaction=Compaction(
            conversation.get("compact_at"), conversation.get("max_messages"), conversation.get("keep_turns")
        ),
    )


def request_fields(format: str, options: AgentOptions) -> dict[str, Json]:
    """The fields of a request that the flags ask for, as the API of this format names them. Raises `ProviderError`."""
    fields: dict[str, Json] = {}
    for name, given in options.options.items():
        fields = merged(fields, effort(format, given) if name == "reasoning_effort" else nested(name, given))
    return fields if options.schema is None else merged(fields, structured_output(format, options.schema))


def find_provider(config: Config, model: str, session: SessionInfo | None) -> Provider:
    """The provider of a model. The `ProviderError` that it raises names `-m` if the model comes from the session."""
    from bough.providers import find

    try:
        return find(model, config.tables("providers"))
    except ProviderError as error:
        if session is None or session.model != model:
            raise
        hint = f"{error} The conversation was held with {model!r}; -m NAME uses another model from now on."
        raise ProviderError(hint, kind=error.kind) from None


def choose_name(config: Config, options: AgentOptions, session: SessionInfo | None) -> str | None:
    """The agent's name. A session's agent that is no longer configured is ignored."""
    if options.agent is not None:
        return options.agent
    if session and session.agent in config.names("agents"):
        return session.agent
    name: str | None = config.get("run.agent")
    return name


def choose_model(config: Config, settings: AgentSettings, options: AgentOptions, session: SessionInfo | None) -> str:
    """The model of `-m`, of the agent of `-a`, of the session, of the configuration, or the default."""
    from bough.providers import default

    if options.model:
        return options.model
    if options.agent and (own := settings.own.get("model")):
        return str(own)
    chosen = (session.model if session else None) or settings.values.get("model")
    return chosen or default(os.environ, config.tables("providers"))


def choose_system(settings: AgentSettings, options: AgentOptions, session: SessionInfo | None) -> str | None:
    """The system prompt; one given by a flag applies to its session from then on. An empty one means none."""
    prompt = options.system
    if prompt is None and not options.agent and session and isinstance(session.extra, dict):
        prompt = session.extra.get("system")
    return (settings.values.get("system") if prompt is None else prompt) or None


def store_options(session: Session, options: AgentOptions, settings: AgentSettings) -> None:
    """Store the flags in the session, so that they apply when it is continued."""
    if options.model is None and options.agent is None and options.system is None:
        return
    info, extra = session.info, None
    if options.system is not None:
        extra = {**(info.extra or {}), "system": options.system}
    model = options.model
    if options.agent and info.model and not model:  # else the former agent's model would take precedence
        model = settings.own.get("model")
    if model or options.agent or extra:
        session.update(model=model, agent=options.agent, extra=extra)
