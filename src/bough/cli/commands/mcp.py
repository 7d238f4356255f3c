"""`bough mcp`: serve agents over the Model Context Protocol."""

from __future__ import annotations

import sys

import click

from bough.cli.ask.runtime import agents_of
from bough.cli.locate import Locator
from bough.cli.options import store_options
from bough.cli.registry import Commands
from bough.runtime.settings import AgentOptions


@click.command()
@click.argument("name")
@click.option("-m", "--model", help="The model to use instead of the agent's own.")
@store_options
@click.pass_obj
def agent(locator: Locator, name: str, model: str | None) -> None:
    """Serve the agent NAME of the configuration as one MCP tool, on stdin and stdout, until stdin is closed.

    Every call runs in a new session, labelled subagent:NAME:RUN, which `bough run` does not continue by default. It is
    linked to the session, message and tool call that started it if the caller passes them: as bough/session,
    bough/message and bough/call in the call's _meta, as bough does, or as BOUGH_SESSION, BOUGH_MESSAGE and BOUGH_CALL.
    """
    from bough.agent.mcp.agent_server import serve
    from bough.cli.ask.ask import interruptible
    from bough.cli.output import console

    if sys.stdin.isatty():
        console.note("Waiting for an MCP client on stdin. Ctrl+D stops; to ask the agent directly, use `bough run -a`.")
    with locator.store() as store, agents_of(locator) as runtime, interruptible():
        # An agent may be a tool of itself: copies that started their servers at once would start without end.
        served = runtime.agent(AgentOptions(model=model, agent=name), start_servers=False)
        serve(served, store)
        served.provider.close()


command = Commands(
    "mcp",
    {"agent": ("mcp:agent", "Serve an agent of the configuration as a tool.")},
    {},
    help="Serve agents to other programs over the Model Context Protocol.",
)
