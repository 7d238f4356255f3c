"""Choosing from a list at the prompt of a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.output.text import one_line

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import ChatLoop

MOST = 30
"""Models that are offered."""


def choose_model(loop: ChatLoop) -> str | None:
    """A model that the user chose; None if the present one stays."""
    from prompt_toolkit.shortcuts import choice

    present = f"{loop.agent.provider.name}:{loop.agent.provider.model}"
    known = [present, *(name for name in known_models(loop) if name != present)][:MOST]
    options = [(name, one_line(name)) for name in known]
    try:
        chosen = choice("The model from now on (Ctrl+C: no change):", options=options, default=present)
    except (KeyboardInterrupt, EOFError):
        return None
    return None if chosen == present else chosen


def known_models(loop: ChatLoop) -> list[str]:
    """The models that `bough models` has listed, those of the configuration, and the embedded one."""
    from bough.providers.model_list import cached_specs

    agents = [
        str(own) for name in loop.config.names("agents") if (own := loop.config.table("agents", name).get("model"))
    ]
    return list(dict.fromkeys([*agents, *cached_specs(), "local"]))
