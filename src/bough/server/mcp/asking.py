"""Asking a model in a branch, for the tool `ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.agent.loop import run
from bough.errors import ProviderError
from bough.runtime.settings import AgentOptions
from bough.server.mcp.quoting import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from bough.runtime.agents import Runtime
    from bough.server.mcp.history import Ask
    from bough.store import Store


def asking(runtime: Runtime, spec: Callable[[str | None], str | None] = lambda model: model) -> Ask:
    """A function that asks the agent of the configuration; `spec` resolves names of models."""

    def ask(store: Store, at: str, text: str, model: str | None) -> str:
        session = store.fork(at)
        agent = runtime.agent(AgentOptions(model=spec(model)), session.info)
        try:
            done = run(agent, session, text)
        finally:
            agent.provider.close()
        if done.status != "complete":
            raise ProviderError(f"The turn {done.turn} ended as {done.status}: {done.error}.", kind="refused")
        return f"{quoted(done.text)}\n{done.last} in {session.key}"

    return ask
