"""`bough acp`: the agent of an editor, over the Agent Client Protocol."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from bough.cli.ask.runtime import agents_of
from bough.cli.locate import Locator
from bough.cli.options import store_options
from bough.runtime.settings import AgentOptions

if TYPE_CHECKING:
    from bough.agent import Agent
    from bough.model import SessionInfo


@click.command("acp")
@click.option("-m", "--model", help="The model to use instead of that of the session and the configuration.")
@click.option("-a", "--agent", help="The agent of the configuration to use.")
@store_options
@click.pass_obj
def command(locator: Locator, model: str | None, agent: str | None) -> None:
    """Serve an editor that speaks the Agent Client Protocol (Zed, JetBrains, Neovim …), on stdin and stdout.

    It can list, load, resume and fork all stored conversations. Tools run as in `bough run`, without asking the editor.
    """
    from bough.agent.acp.editor_agent import serve
    from bough.cli.ask.ask import interruptible
    from bough.cli.output import console

    if sys.stdin.isatty():
        console.note("Waiting for an editor on stdin. Ctrl+D stops; to ask the agent yourself, use `bough chat`.")
    with locator.store() as store, agents_of(locator) as runtime, interruptible():

        def agent_for(session: SessionInfo) -> Agent:
            return runtime.agent(AgentOptions(model=model, agent=agent), session)

        serve(store, agent_for, sys.stdin, sys.stdout)
