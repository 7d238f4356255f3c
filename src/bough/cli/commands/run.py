"""`bough run`: ask, in this directory's conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bough.cli.ask.agent import remember
from bough.cli.ask.choose import Choice, choose, dialog_of, remembered
from bough.cli.ask.flags import Flags, flags
from bough.cli.locate import Locator, here
from bough.cli.options import examples, json_option
from bough.errors import Invalid, ProviderError
from bough.model.values import value

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome
    from bough.cli.output.live import RunPrinter
    from bough.model import Part


@click.command(
    epilog=examples(
        'bough "why is the sky blue"', 'bough run -c "and at night?"', "git diff | bough run review this",
        "bough run -i photo.jpg what is this", "bough run --resume a1b2c3", "bough run -G -m local hello",
    )
)  # fmt: skip
@click.argument("words", nargs=-1, metavar="[PROMPT]…")
@click.option(
    "-i", "--input", "-f", "--file", "files", multiple=True, metavar="FILE", type=click.Path(),
    help="Attach a file; repeatable.",
)  # fmt: skip
@click.option("--skip-stdin", is_flag=True, help="Do not read what is piped in.")
@click.option("--raw", is_flag=True, help="Show the reply as it comes, even on a terminal.")
@flags
@json_option
@click.pass_obj
def command(
    locator: Locator, words: tuple[str, ...], files: tuple[str, ...], skip_stdin: bool, raw: bool, flags: Flags,
    as_json: bool,
) -> int:  # fmt: skip
    """Ask, in this directory's conversation, which continues where it left off.

    The reply goes to stdout, its id to stderr. What is piped in becomes part of the question. -c takes what follows it
    as an id if a message has that id; else it is the beginning of the prompt.
    """
    from bough.cli.ask.ask import interruptible
    from bough.cli.ask.attach import piped

    stdin = b"" if skip_stdin else piped(bool(words) and words != ("-",))
    asked = Asked(words, files, stdin, raw, as_json)
    if not (asked.is_something or flags.continued or flags.resume):
        raise Invalid('There is nothing to ask. Write: bough run "your question", or bough chat.')
    with interruptible():
        return nowhere(locator, asked, flags) if flags.incognito else kept(locator, asked, flags)


@value
class Asked:
    """The question, and how its answer is wanted."""

    words: tuple[str, ...]
    files: tuple[str, ...]
    stdin: bytes
    raw: bool
    as_json: bool

    @property
    def is_something(self) -> bool:
        return bool("".join(self.words).strip() or self.files or self.stdin.strip())


def kept(locator: Locator, asked: Asked, flags: Flags) -> int:
    """Asks in a session of the store."""
    from bough.cli.ask.attach import question
    from bough.cli.ask.crew import Crew
    from bough.cli.output.live import RunPrinter

    with locator.store() as store, Crew(locator) as crew:
        wish, words = flags.wish(store, asked.words)
        parts = question(words, asked.files, asked.stdin)
        # Whoever cannot be asked is known before a session is made for it.
        agent = crew.cast(flags.casting, remembered(store, wish, here(), bool(parts)))
        choice = choose(store, wish, here(), bool(parts))
        remember(choice.session, flags.casting, locator.settings())
        teller = RunPrinter(raw=asked.raw, silent=asked.as_json)
        if choice.note:
            teller.note(choice.note)
        return answer(agent, choice, parts, teller, asked.as_json)


def nowhere(locator: Locator, asked: Asked, flags: Flags) -> int:
    """Asks in a session that is nowhere. What is continued is read, and nothing is written to it."""
    import bough
    from bough.cli.ask.attach import question
    from bough.cli.ask.crew import Crew
    from bough.cli.output.live import RunPrinter

    with bough.connect(":memory:") as memory, Crew(Locator(":memory:", locator.config)) as crew:
        session, words = memory.session("incognito"), list(asked.words)
        if flags.is_continuing:
            with locator.existing() as store:
                wish, words = flags.wish(store, words)
                session.record(dialog_of(store, wish, here()))
        parts = question(words, asked.files, asked.stdin)
        agent = crew.cast(flags.casting, session.info)
        teller = RunPrinter(raw=asked.raw, silent=asked.as_json, kept=False)
        return answer(agent, Choice(session), parts, teller, asked.as_json)


def answer(agent: Agent, choice: Choice, parts: list[Part], teller: RunPrinter, as_json: bool) -> int:
    """Runs one turn and tells it; the exit status."""
    from bough.cli.ask.ask import ask
    from bough.cli.exits import INTERRUPTED

    try:
        done = ask(agent, choice, parts, teller)
    except KeyboardInterrupt:
        teller.print_resume_hint()
        return INTERRUPTED
    except ProviderError:
        teller.print_resume_hint("The question is kept")
        raise
    finally:
        agent.provider.close()
    return told(done, agent, choice, teller, as_json)


def told(done: Outcome, agent: Agent, choice: Choice, teller: RunPrinter, as_json: bool) -> int:
    """Says how the turn ended; the exit status."""
    from bough.cli.ask.ask import in_json
    from bough.cli.exits import STOPPED
    from bough.cli.output.console import print_json

    if as_json:
        print_json(in_json(done, choice, agent, teller.kept))
    teller.print_reply_id(done)
    if done.reason:
        teller.note(agent.limits.describe(done.reason))
        teller.print_resume_hint()
        return STOPPED
    return teller.status
