"""`bough run`: ask a question in this directory's conversation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from bough.cli.ask.choose import Choice, carry_out, plan_conversation, planned_dialog
from bough.cli.ask.flags import Flags, flags
from bough.cli.browser import can_browse
from bough.cli.locate import Locator, working_directory
from bough.cli.options import examples, json_option, locator_of
from bough.cli.output.reply import ReplyForm, ReplyPrinter
from bough.errors import BoughError, Invalid, NotFound, ProviderError
from bough.model.values import replace, value

if TYPE_CHECKING:
    from bough.agent import Agent, Outcome
    from bough.cli.ask.templates import PromptTemplate
    from bough.model import Json, Part
    from bough.runtime.settings import AgentOptions


def template_names(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Templates for shell completion, which cannot show an error."""
    from contextlib import suppress

    with suppress(BoughError):
        return [name for name in locator_of(ctx).settings().names("templates") if name.startswith(incomplete)]
    return []


@click.command(
    epilog=examples(
        'bough "why is the sky blue"', 'bough run -c "and at night?"', "git diff | bough run review this",
        "bough run -i photo.jpg what is this", "bough run --resume a1b2c3", "bough run -G -m local hello",
        "bough run -r", "bough run -m openai -m anthropic 'which is it?'", "bough run -x 'a regex for dates' --copy",
        "bough run --schema 'name, age int' 'invent a gardener'",
    )
)  # fmt: skip
@click.argument("words", nargs=-1, metavar="[PROMPT]…")
@click.option(
    "-i", "--input", "-f", "--file", "files", multiple=True, metavar="FILE", type=click.Path(),
    help="Attach a file; repeatable.",
)  # fmt: skip
@click.option("--skip-stdin", is_flag=True, help="Do not read piped input.")
@click.option("--raw", is_flag=True, help="Write the reply without formatting, even on a terminal.")
@click.option("-t", "--template", metavar="NAME", shell_complete=template_names, help="Ask with a template.")
@click.option("-p", "--param", "params", multiple=True, metavar="NAME=VALUE", help="Variable of the template.")
@click.option("-x", "--extract", is_flag=True, help="Print only the first code block of the reply.")
@click.option("--schema", metavar="FILE|FIELDS", help="Answer as JSON: a JSON Schema, or 'name, age int, tags [str]'.")
@click.option("--copy", "copies", is_flag=True, help="Copy the reply, or with -x its code, to the clipboard.")
@click.option("-r", "--last", is_flag=True, help="Ask nothing: print the last reply of the conversation again.")
@flags
@json_option
@click.pass_obj
def command(
    locator: Locator, words: tuple[str, ...], files: tuple[str, ...], skip_stdin: bool, raw: bool,
    template: str | None, params: tuple[str, ...], extract: bool, schema: str | None, copies: bool, last: bool,
    flags: Flags, as_json: bool,
) -> int:  # fmt: skip
    """Ask a question in this directory's conversation.

    The reply goes to stdout, its id to stderr. Piped input becomes part of the question. The word after -c is an id if
    a message has that id, else the beginning of the prompt. With several -m, the models answer side by side, and the
    conversation goes on with the first one's reply.
    """
    from bough.cli.ask.ask import interruptible
    from bough.cli.ask.attach import piped

    form = ReplyForm(raw, as_json, extract, copies)
    if last:
        return print_last(locator, words, flags, form)
    stdin = b"" if skip_stdin else piped(bool(words) and words != ("-",))
    run_input = RunInput(words, files, stdin, template, params, schema, form)
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
    template: str | None
    params: tuple[str, ...]
    schema: str | None
    form: ReplyForm

    @property
    def is_empty(self) -> bool:
        """Whether there is no question."""
        return not ("".join(self.words).strip() or self.files or self.stdin.strip() or self.template)

    def question(self, words: list[str], template: PromptTemplate | None) -> tuple[list[Part], str | None]:
        """The blocks of the question, and the system prompt of the template. Raises `NotFound` and `Invalid`."""
        from bough.cli.ask.attach import question
        from bough.cli.ask.templates import parse_variables
        from bough.model.files import decoded

        if template is None:
            if self.params:
                raise Invalid("-p gives variables to a template; name one with -t. Nothing was asked.")
            return question(words, self.files, self.stdin), None
        text = decoded(self.stdin) if self.stdin.strip() else None
        asked = "\n\n".join(filter(None, (" ".join(words), text and text.strip("\n"))))
        prompt, system = template.fill(asked, parse_variables(self.params))
        return question([prompt], self.files, b"" if text is not None else self.stdin), system


@value
class Setup:
    """What answers: the agents, in the order of `-m`, the parts of the question, and the schema."""

    parts: list[Part]
    options: tuple[AgentOptions, ...]
    schema: dict[str, Json] | None


def set_up(locator: Locator, run_input: RunInput, flags: Flags, words: list[str]) -> Setup:
    """The question and the options of each agent. Raises `ConfigError`, `NotFound` and `Invalid`."""
    from bough.cli.ask.schema import read_schema
    from bough.cli.ask.templates import find_template

    template = find_template(locator.settings(), run_input.template) if run_input.template else None
    parts, system = run_input.question(words, template)
    named = run_input.schema or (template.schema if template else None)
    schema = read_schema(named) if named else None
    options = replace(flags.options, schema=schema)
    if template is not None:
        options = replace(
            options, system=options.system if options.system is not None else system,
            agent=options.agent or template.agent, options={**template.options, **options.options},
        )  # fmt: skip
    models = flags.models or ((template.model,) if template and template.model else (None,))
    return Setup(parts, tuple(replace(options, model=model) for model in models), schema)


def run_stored(locator: Locator, run_input: RunInput, flags: Flags) -> int:
    """Ask in a session of the store."""
    from bough.cli.ask.first_run import with_offer
    from bough.cli.ask.runtime import agents_of
    from bough.cli.output.live import unfinished_line

    # A store without a file has nothing to continue: it is opened in memory, and no file is made for the error.
    opened = locator.existing() if flags.is_continuing else locator.store()
    with opened as store, agents_of(locator, flags.tool_names) as runtime:
        target, words = flags.target(store, run_input.words)
        setup = set_up(locator, run_input, flags, words)
        plan = plan_conversation(store, target, working_directory(), bool(setup.parts))
        # A model that cannot be used is an error before anything is written.
        agents = [with_offer(locator, partial(runtime.agent, options, plan.info)) for options in setup.options]
        choice = carry_out(store, plan)
        if len(agents) == 1:
            runtime.store_options(choice.session, replace(setup.options[0], model=(flags.models or (None,))[0]))
        printer = ReplyPrinter(run_input.form, setup.schema is not None or len(agents) > 1)
        if choice.note:
            printer.note(choice.note)
        if not choice.unfinished and (left := unfinished_line(choice.session, "bough run --resume")):
            printer.note(left)
        return answer(locator, agents, choice, setup, printer)


def run_incognito(locator: Locator, run_input: RunInput, flags: Flags) -> int:
    """Ask in a session in memory. A conversation that is continued is copied there."""
    import bough
    from bough.cli.ask.runtime import agents_of

    memory_only = Locator(":memory:", locator.config)
    with bough.connect(":memory:") as memory, agents_of(memory_only, flags.tool_names) as runtime:
        session, words = memory.session("incognito"), list(run_input.words)
        if flags.names_conversation:
            with locator.existing() as store:
                target, words = flags.target(store, words)
                session.record(planned_dialog(store, plan_conversation(store, target, working_directory())))
        setup = set_up(locator, run_input, flags, words)
        agents = [runtime.agent(options, session.info) for options in setup.options]
        printer = ReplyPrinter(run_input.form, setup.schema is not None or len(agents) > 1, kept=False)
        return answer(locator, agents, Choice(session), setup, printer)


def answer(locator: Locator, agents: list[Agent], choice: Choice, setup: Setup, printer: ReplyPrinter) -> int:
    """Run one turn, or one of each agent, and write it; return the exit status."""
    from bough.cli.ask.ask import ask
    from bough.cli.ask.several import ask_several
    from bough.cli.exits import INTERRUPTED
    from bough.cli.output.notify import notified

    try:
        with notified(locator.settings().get("run.notify_after"), "the answer is there"):
            if len(agents) > 1:
                outcomes = ask_several(agents, choice, setup.parts, printer)
            else:
                outcomes = [ask(agents[0], choice, setup.parts, printer)]
    except KeyboardInterrupt:
        printer.print_resume_hint()
        return INTERRUPTED
    except ProviderError:
        printer.print_resume_hint("The question is kept")
        raise
    finally:
        for agent in agents:
            agent.provider.close()
    if len(agents) > 1:
        return report_several(outcomes, agents, choice, printer)
    return report(outcomes[0], agents[0], choice, setup.schema, printer)


def report(
    outcome: Outcome, agent: Agent, choice: Choice, schema: dict[str, Json] | None, printer: ReplyPrinter
) -> int:
    """Write how the turn ended; return the exit status. Raises `Invalid` for an answer that does not fit the schema."""
    from bough.cli.ask.ask import turn_json
    from bough.cli.ask.schema import check_answer
    from bough.cli.exits import INTERRUPTED, STOPPED
    from bough.cli.output.console import print_json

    form, wrong, checked = printer.form, None, None
    if schema is not None and outcome.status == "complete":
        try:
            checked = check_answer(outcome.text, schema)
        except Invalid as error:
            wrong = error
    if form.as_json:
        print_json(turn_json(outcome, choice, agent, printer.kept) | ({"answer": checked} if schema else {}))
    else:
        printer.print_reply(outcome.text)
    printer.print_reply_id(outcome)
    if wrong is not None:
        raise wrong
    if outcome.status == "stopped":
        printer.print_stopped(outcome)
        return INTERRUPTED
    if outcome.reason:
        printer.note(agent.limits.describe(outcome.reason))
        printer.print_resume_hint()
        return STOPPED
    return printer.status


def report_several(outcomes: list[Outcome], agents: list[Agent], choice: Choice, printer: ReplyPrinter) -> int:
    """Write the answers of several models; the exit status is 0 if one of them is whole."""
    from bough.cli.ask.several import print_several, several_json
    from bough.cli.exits import INTERRUPTED, STATUSES
    from bough.cli.output.console import print_json

    if printer.form.as_json:
        print_json(several_json(outcomes, agents, choice, printer.kept))
    else:
        print_several(outcomes, agents, printer.form.raw, printer.kept)
    for one, agent in zip(outcomes, agents, strict=True):
        if one.error and one.status == "failed":
            printer.note(f"{agent.provider.model} failed: {one.error.removeprefix('ProviderError: ')}")
    if printer.kept and choice.session.head is not None:
        printer.note(f"[{choice.session.head}] is continued; bough run -c ID PROMPT continues another answer.")
    if any(one.status == "complete" for one in outcomes):
        return printer.status
    return INTERRUPTED if any(one.status == "stopped" for one in outcomes) else STATUSES["provider"]


def print_last(locator: Locator, words: tuple[str, ...], flags: Flags, form: ReplyForm) -> int:
    """Print the last reply of the conversation that the flags name. Raises `NotFound` and `Invalid`."""
    from bough.cli.ask.choose import Target
    from bough.cli.commands.show import node_json
    from bough.cli.output.console import print_json

    with locator.existing() as store:
        target, left = flags.target(store, words)
        if "".join(left).strip():
            raise Invalid("-r prints the last reply and asks nothing; leave the question out, or -r.")
        target = Target(last=True) if target == Target() else target
        nodes = planned_dialog(store, plan_conversation(store, target, working_directory()))
        replies = [node for node in nodes if node.role == "assistant" and node.message.text]
        if not replies:
            raise NotFound("There is no reply in this conversation yet.")
        node = replies[-1]
        if form.as_json:
            print_json(node_json(node, store.turn_info(node.turn_id) if node.turn_id else None))
            return 0
    printer = ReplyPrinter(form, waits=True)
    printer.print_reply(node.message.text)
    printer.note(f"[{node.id}]")
    return printer.status
