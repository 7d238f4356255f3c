"""`bough mcp`: serve the stored conversations, and agents, over the Model Context Protocol."""

from __future__ import annotations

import os
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


@click.command()
@click.option("--write", is_flag=True, help="Offer `fork` and `label` too.")
@click.option("--run", "asks", is_flag=True, help="Offer `ask` too: it asks a model of the configuration.")
@store_options
@click.pass_obj
def history(locator: Locator, write: bool, asks: bool) -> None:
    """Serve the stored conversations to an agent, on stdin and stdout, until stdin is closed.

    The tools search, read, tree, sessions, usage and compare only read; nothing can be deleted over MCP. What is in use
    in the working directory is the conversation that asks, and is left out of a search. In Claude Code:
    claude mcp add bough -- bough mcp history
    """
    from bough.cli.ask.ask import interruptible
    from bough.cli.output import console
    from bough.server.mcp.asking import asking
    from bough.server.mcp.history import History
    from bough.server.mcp.serving import serve_stdio

    if sys.stdin.isatty():
        console.note("Waiting for an MCP client on stdin. Ctrl+D stops; to search yourself, use `bough search`.")
    scopes = ["read", *(["write"] if write else []), *(["run"] if asks else [])]
    with locator.store() as store, agents_of(locator) as runtime, interruptible():
        serve_stdio(History(store, os.getcwd(), asking(runtime)), scopes)


command = Commands(
    "mcp",
    {
        "history": ("mcp:history", "Serve the stored conversations as tools that only read."),
        "agent": ("mcp:agent", "Serve an agent of the configuration as a tool."),
    },
    {},
    help="Serve the stored conversations, and agents, to other programs over the Model Context Protocol.",
)
