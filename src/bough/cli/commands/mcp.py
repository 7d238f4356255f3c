"""`bough mcp`: what other programs may use over the Model Context Protocol."""

from __future__ import annotations

import sys

import click

from bough.cli.ask.agent import AgentOptions
from bough.cli.ask.runtime import Runtime
from bough.cli.locate import Locator
from bough.cli.options import store_options
from bough.cli.registry import Commands


@click.command()
@click.argument("name")
@click.option("-m", "--model", help="Who answers, instead of the agent's own model.")
@store_options
@click.pass_obj
def agent(locator: Locator, name: str, model: str | None) -> None:
    """Serve the agent NAME of the configuration as one MCP tool, on stdin and stdout, until stdin ends.

    Every call runs in a session of its own, labelled subagent:NAME:RUN and never continued by itself. It is linked to
    the session, the message and the call that started it, if the caller names them: in the call's _meta (bough/session,
    bough/message, bough/call; bough itself does), or by BOUGH_SESSION, BOUGH_MESSAGE and BOUGH_CALL.
    """
    from bough.agent.mcp.agent_server import serve
    from bough.cli.ask.ask import interruptible
    from bough.cli.output import console

    if sys.stdin.isatty():
        console.note("Waiting for an MCP client on stdin. Ctrl+D ends this; `bough run -a` asks an agent by hand.")
    with locator.store() as store, Runtime(locator) as runtime, interruptible():
        # An agent may be a tool of itself: if each copy started its servers at once, there would be no end of them.
        served = runtime.agent(AgentOptions(model=model, agent=name), start_servers=False)
        serve(served, store)
        served.provider.close()


command = Commands(
    "mcp",
    {"agent": ("mcp:agent", "Serve an agent of the configuration as a tool.")},
    {},
    help="What other programs may use over the Model Context Protocol.",
)
