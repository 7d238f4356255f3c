"""`bough chat`: the same as `run`, turn after turn, in one terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bough.cli.ask.choose import choose, dialog_of
from bough.cli.ask.flags import Flags, flags
from bough.cli.locate import Locator, here
from bough.cli.options import examples

if TYPE_CHECKING:
    from bough.store import Store


@click.command(
    "chat",
    epilog=examples("bough chat", "bough chat -n -m anthropic:claude-sonnet-5-5", "bough chat --session work")
    + "\n\nInside: /help. Alt+Enter begins a new line, Ctrl+C stops an answer, Ctrl+D ends the chat.",
)
@click.argument("words", nargs=-1, metavar="[PROMPT]…")
@click.option(
    "-i", "--input", "files", multiple=True, metavar="FILE", type=click.Path(),
    help="Attach a file to the first question.",
)  # fmt: skip
@flags
@click.pass_obj
def command(locator: Locator, words: tuple[str, ...], files: tuple[str, ...], flags: Flags) -> int:
    """Talk, in this directory's conversation, which continues where it left off; `run` can go on with it any time."""
    if flags.incognito:
        nowhere = Locator(":memory:", locator.config)
        with nowhere.store() as memory:
            return talk(nowhere, memory, remembered(locator, memory, words, flags), files, flags)
    with locator.store() as store:
        return talk(locator, store, words, files, flags)


def remembered(locator: Locator, memory: Store, words: tuple[str, ...], flags: Flags) -> tuple[str, ...]:
    """Brings what is continued into a store that is nowhere; the words of the first question."""
    if not flags.is_continuing:
        return words
    with locator.existing() as store:
        wish, left = flags.wish(store, words)
        dialog = dialog_of(store, wish, here())
    memory.session("cli:incognito", directory=here()).record(dialog)
    return tuple(left)


def talk(locator: Locator, store: Store, words: tuple[str, ...], files: tuple[str, ...], flags: Flags) -> int:
    """Talks until the user has enough; the exit status."""
    from bough.cli.ask.choose import Wish
    from bough.cli.ask.crew import Crew
    from bough.cli.commands.chat.input import reader
    from bough.cli.commands.chat.loop import Talk

    wish, left = (Wish(), list(words)) if flags.incognito else flags.wish(store, words)
    choice = choose(store, wish, here())
    with Crew(locator) as crew, Talk(store, crew, locator.settings(), choice.session, flags) as talking:
        talking.files = list(files)
        return talking.go(reader(talking), " ".join(left))
