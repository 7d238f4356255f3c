"""`bough run`: ask a question in this directory's conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bough.cli.ask.choose import Choice, carry_out, plan_conversation, planned_dialog
from bough.cli.ask.flags import Flags, flags
from bough.cli.browser import can_browse
from bough.cli.locate import Locator, working_directory
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
@click.option("--skip-stdin", is_flag=True, help="Do not read piped input.")
@click.option("--raw", is_flag=True, help="Write the reply without formatting, even on a terminal.")
@flags
@json_option
@click.pass_obj
def command(
    locator: Locator, words: tuple[str, ...], files: tuple[str, ...], skip_stdin: bool, raw: bool, flags: Flags,
    as_json: bool,
) -> int:  # fmt: skip
    """Ask a question in this directory's conversation.

    The reply goes to stdout, its id to stderr. Piped input becomes part of the question. The word after -c is an id if
    a message has that id, else the beginning of the prompt.
    """
    from bough.cli.ask.ask import interruptible
    from bough.cli.ask.attach import piped

    stdin = b"" if skip_stdin else piped(bool(words) and words != ("-",))
    run_input = RunInput(words, files, stdin, raw, as_json)
    if run_input.is_empty and flags.resume == "" and can_browse():
        from bough.cli.commands.chat import chat_browsed

        return chat_browsed(locator, flags)
    if run_input.is_empty and not (flags.continued or flags.resume):
        raise Invalid('There is nothing to ask. Write: bough run "your question", or bough chat.')
    with interruptible():
        return (run_incognito if flags.incognito else run_stored)(locator, run_input, flags)


@value
class RunInput:
    """The question, and the form of the reply."""

    words: tuple[str, ...]
    files: tuple[str, ...]
    stdin: bytes
    raw: bool
    as_json: bool

    @property
    def is_empty(self) -> bool:
        """Whether there is no question."""
        return not ("".join(self.words).strip() or self.files or self.stdin.strip())


def run_stored(locator: Locator, run_input: RunInput, flags: Flags) -> int:
    """Ask in a session of the store."""
    from bough.cli.ask.attach import question
    from bough.cli.ask.runtime import agents_of
    from bough.cli.output.live import RunPrinter, unfinished_line

    # A store without a file has nothing to continue: it is opened in memory, and no file is made for the error.
    opened = locator.existing() if flags.is_continuing else locator.store()
    with opened as store, agents_of(locator) as runtime:
        target, words = flags.target(store, run_input.words)
        parts = question(words, run_input.files, run_input.stdin)
        plan = plan_conversation(store, target, working_directory(), bool(parts))
        # A model that cannot be used is an error before anything is written.
        agent = runtime.agent(flags.options, plan.info)
        choice = carry_out(store, plan)
        runtime.store_options(choice.session, flags.options)
        printer = RunPrinter(raw=run_input.raw, silent=run_input.as_json)
        if choice.note:
            printer.note(choice.note)
        if not choice.unfinished and (left := unfinished_line(choice.session, "bough run --resume")):
            printer.note(left)
        return answer(agent, choice, parts, printer, run_input.as_json)


def run_incognito(locator: Locator, run_input: RunInput, flags: Flags) -> int:
    """Ask in a session in memory. A conversation that is continued is copied there."""
    import bough
    from bough.cli.ask.attach import question
    from bough.cli.ask.runtime import agents_of
    from bough.cli.output.live import RunPrinter

    with bough.connect(":memory:") as memory, agents_of(Locator(":memory:", locator.config)) as runtime:
        session, words = memory.session("incognito"), list(run_input.words)
        if flags.names_conversation:
            with locator.existing() as store:
                target, words = flags.target(store, words)
                session.record(planned_dialog(store, plan_conversation(store, target, working_directory())))
        parts = question(words, run_input.files, run_input.stdin)
        agent = runtime.agent(flags.options, session.info)
        printer = RunPrinter(raw=run_input.raw, silent=run_input.as_json, kept=False)
        return answer(agent, Choice(session), parts, printer, run_input.as_json)


def answer(agent: Agent, choice: Choice, parts: list[Part], printer: RunPrinter, as_json: bool) -> int:
    """Run one turn and write it; return the exit status."""
    from bough.cli.ask.ask import ask
    from bough.cli.exits import INTERRUPTED

    try:
        outcome = ask(agent, choice, parts, printer)
    except KeyboardInterrupt:
        printer.print_resume_hint()
        return INTERRUPTED
    except ProviderError:
        printer.print_resume_hint("The question is kept")
        raise
    finally:
        agent.provider.close()
    return report(outcome, agent, choice, printer, as_json)


def report(outcome: Outcome, agent: Agent, choice: Choice, printer: RunPrinter, as_json: bool) -> int:
    """Write how the turn ended; return the exit status."""
    from bough.cli.ask.ask import turn_json
    from bough.cli.exits import INTERRUPTED, STOPPED
    from bough.cli.output.console import print_json

    if as_json:
        print_json(turn_json(outcome, choice, agent, printer.kept))
    printer.print_reply_id(outcome)
    if outcome.status == "stopped":
        printer.print_stopped(outcome)
        return INTERRUPTED
    if outcome.reason:
        printer.note(agent.limits.describe(outcome.reason))
        printer.print_resume_hint()
        return STOPPED
    return printer.status
