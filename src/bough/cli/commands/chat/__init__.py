"""`bough chat`: like `run`, turn after turn in one terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bough.cli.ask.choose import carry_out, plan_conversation, planned_dialog
from bough.cli.ask.flags import Flags, flags
from bough.cli.browser import can_browse
from bough.cli.locate import Locator, working_directory
from bough.cli.options import examples
from bough.errors import Invalid

if TYPE_CHECKING:
    from bough.cli.browser import Picked
    from bough.session import Session
    from bough.store import Store


@click.command(
    "chat",
    epilog=examples("bough chat", "bough chat -n -m anthropic:claude-sonnet-5-5", "bough chat --session work")
    + "\n\nInside: /help. Alt+Enter inserts a line break, Ctrl+C stops a reply, Ctrl+D ends the chat.",
)
@click.argument("words", nargs=-1, metavar="[PROMPT]…")
@click.option(
    "-i", "--input", "files", multiple=True, metavar="FILE", type=click.Path(),
    help="Attach a file to the first question.",
)  # fmt: skip
@flags
@click.pass_obj
def command(locator: Locator, words: tuple[str, ...], files: tuple[str, ...], flags: Flags) -> int:
    """Chat in this directory's conversation. `bough run` can continue it at any time."""
    if flags.incognito:
        memory_only = Locator(":memory:", locator.config)
        with memory_only.store() as memory:
            return chat(memory_only, memory, copy_dialog(locator, memory, words, flags), files, flags)
    if flags.resume == "" and not words and can_browse():
        return chat_browsed(locator, flags)
    # A store without a file has nothing to continue: it is opened in memory, and no file is made for the error.
    with locator.existing() if flags.is_continuing else locator.store() as store:
        return chat(locator, store, words, files, flags)


def chat_browsed(locator: Locator, flags: Flags) -> int:
    """Let the user choose a conversation in the browser, and chat there; return the exit status."""
    from bough.cli.browser import browse

    with locator.existing() as store:
        picked = browse(store, working_directory(), title="Resume")
    return 0 if picked is None else chat_picked(locator, picked, flags)


def copy_dialog(locator: Locator, memory: Store, words: tuple[str, ...], flags: Flags) -> tuple[str, ...]:
    """Copy the conversation that is continued into memory; return the words of the first question."""
    if not flags.names_conversation:
        return words
    with locator.existing() as store:
        target, left = flags.target(store, words)
        dialog = planned_dialog(store, plan_conversation(store, target, working_directory()))
    memory.session("cli:incognito", directory=working_directory()).record(dialog)
    return tuple(left)


def chat(locator: Locator, store: Store, words: tuple[str, ...], files: tuple[str, ...], flags: Flags) -> int:
    """Run a chat until its input ends; return the exit status."""
    from bough.cli.ask.choose import Target

    target, left = (Target(), list(words)) if flags.incognito else flags.target(store, words)
    choice = carry_out(store, plan_conversation(store, target, working_directory()))
    return run_loop(locator, store, choice.session, flags, " ".join(left), files)


def chat_picked(locator: Locator, picked: Picked, flags: Flags) -> int:
    """Run a chat that begins with what was picked in the browser; return the exit status."""
    from bough.cli.ask.follow import session_for

    with locator.store() as store:
        choice = session_for(store, picked, working_directory())
        return run_loop(locator, store, choice.session, flags, picked=picked)


def run_loop(
    locator: Locator, store: Store, session: Session, flags: Flags, first: str = "", files: tuple[str, ...] = (),
    picked: Picked | None = None,
) -> int:  # fmt: skip
    """Run a chat in a session, with a first question or what was picked in the browser."""
    from bough.cli.ask.runtime import agents_of
    from bough.cli.commands.chat.input import reader
    from bough.cli.commands.chat.loop import ChatLoop

    if len(flags.models) > 1:
        raise Invalid("A chat has one model: use -m once, and /regen -m MODEL for another answer.")
    with agents_of(locator, flags.tool_names) as runtime, ChatLoop(locator, store, runtime, session, flags) as loop:
        loop.files = list(files)
        return loop.run(reader(loop), first, picked)
