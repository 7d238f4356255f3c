"""Slash commands of a chat: `/new`, `/fork`, `/help` and the others."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bough.cli.ask.choose import carry_out, plan_new
from bough.cli.commands.chat.branching import edit, fork, regen, resume, retry, rewind, tree
from bough.cli.commands.chat.reading import code, copy, export, history, number, search
from bough.cli.output import console
from bough.cli.output.live import aside, token_counts
from bough.cli.output.text import one_line
from bough.errors import BoughError
from bough.model.values import value

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import ChatLoop


@value
class SlashCommand:
    """A slash command: its name, arguments and help, and the function that runs it."""

    name: str
    arguments: str
    help: str
    run: Callable[[ChatLoop, str], object]


def dispatch(loop: ChatLoop, line: str) -> bool:
    """Run the command of a line; return whether the chat continues."""
    from bough.cli.commands.chat.loop import report_error

    name, _, words = line.strip().partition(" ")
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        near = get_close_matches(name, COMMANDS, 1)
        report_error(f"There is no {name}.{f' Did you mean {near[0]}?' if near else ''} /help lists the commands.")
        return True
    try:
        return command.run(loop, words.strip()) is not False
    except KeyboardInterrupt:
        report_error("Stopped.")
    except (BoughError, OSError) as problem:
        report_error(str(problem))
    return True


def new(loop: ChatLoop, title: str) -> None:
    plan = plan_new(loop.store, loop.directory)
    loop.move(carry_out(loop.store, plan).session, keep_agent=True)
    if title:
        loop.session.update(title=title)
    aside(f"A new conversation: {loop.status()}")


def clear(loop: ChatLoop, _: str) -> None:
    before = loop.store.trash()
    loop.session.clear()
    gone = loop.store.trash()[: -len(before) or None]
    aside(f"Empty now. bough restore {gone[0].id} restores the messages." if gone else "Empty.")


def model(loop: ChatLoop, spec: str) -> None:
    """Change the model; without a name, choose one from a list on a terminal."""
    if not spec and loop.interactive:
        from bough.cli.commands.chat.choices import choose_model

        spec = choose_model(loop) or ""
    if spec:
        loop.change_agent(model=spec)
    aside(loop.status())


def status(loop: ChatLoop, _: str) -> None:
    aside(loop.status())


def stop(_: ChatLoop, __: str) -> None:
    aside("No reply is being written. While one is, /stop or Ctrl+C stops it.")


def agent(loop: ChatLoop, name: str) -> None:
    if name:
        loop.change_agent(agent=name)
        aside(loop.status())
    else:
        aside(", ".join(loop.config.names("agents")) or "There is no [agents.NAME] in the configuration.")


def system(loop: ChatLoop, words: str) -> None:
    if words:
        loop.change_agent(system="" if words == "-" else words)
    aside(f"System prompt: {one_line(loop.agent.instructions)}" if loop.agent.instructions else "No system prompt.")


def compact(loop: ChatLoop, words: str) -> None:
    from bough.agent.compaction import Summarizer, context_window

    agent = loop.agent
    keep = number(words) if words else agent.compaction.keep_turns
    budget = None if words else agent.budget or context_window(agent.provider)
    aside("Summarizing…")
    summarize = Summarizer(agent.provider)
    made = loop.session.compact(summarize, keep, budget=budget, usage=lambda: summarize.spent)
    done = f"Summarized in {made}{token_counts(summarize.spent)}; /history still has everything."
    aside(done if made else f"There are no more than {keep or 1} turns.")


def title(loop: ChatLoop, words: str) -> None:
    if words:
        loop.session.update(title=words)
    aside(f"Title: {one_line(loop.session.info.title or '–')}")


def attach(loop: ChatLoop, file: str) -> None:
    from bough.cli.ask.attach import attached

    if file:
        attached([file])
        loop.files.append(file)
    aside(f"With the next question: {', '.join(map(one_line, loop.files)) or 'nothing'}")


def help_(_: ChatLoop, __: str) -> None:
    for command in COMMANDS.values():
        print(f"{console.styled(f'{command.name} {command.arguments}'.strip(), 'bold'):<30} {command.help}")
    aside(
        "Alt+Enter inserts a line break, Up edits an earlier question, Ctrl+X Ctrl+E opens $EDITOR, Ctrl+P recalls "
        "earlier input. Ctrl+C stops a reply. A line that starts with a space is never a command."
    )


def quit_(_: ChatLoop, __: str) -> bool:
    return False


COMMANDS = {
    command.name: command
    for command in (
        SlashCommand("/new", "[TITLE]", "Start a new conversation; this one is kept.", new),
        SlashCommand("/clear", "", "Empty this conversation; its messages go to the trash.", clear),
        SlashCommand("/history", "[N]", "Show the messages.", history),
        SlashCommand("/fork", "[ID]", "Continue in a fork, from here or from a message.", fork),
        SlashCommand("/rewind", "[N|ID]", "Go back by turns, or to a message, and edit what followed.", rewind),
        SlashCommand("/edit", "[ID]", "Put a question back into the editor, to ask it as another branch.", edit),
        SlashCommand("/regen", "[ID] [-m MODEL]", "Answer again, also with another model.", regen),
        SlashCommand("/stop", "", "Stop the reply that is being written, as Ctrl+C does.", stop),
        SlashCommand("/retry", "[ID]", "Resume the turn that did not complete.", retry),
        SlashCommand("/tree", "[ID]", "Browse this conversation; with ID, draw its branches.", tree),
        SlashCommand("/resume", "[ID]", "Continue another conversation; without ID, browse them.", resume),
        SlashCommand("/model", "[NAME]", "Choose or change the model.", model),
        SlashCommand("/agent", "[NAME]", "Switch to an agent of the configuration, or list them.", agent),
        SlashCommand("/system", "[TEXT|-]", "Show or change the system prompt; - removes it.", system),
        SlashCommand("/compact", "[KEEP]", "Summarize the older turns.", compact),
        SlashCommand("/status", "", "Show the conversation, model, tokens, cost and branches.", status),
        SlashCommand("/title", "[TEXT]", "Show or change the title.", title),
        SlashCommand("/search", "WORDS", "Search all conversations.", search),
        SlashCommand("/copy", "[N|ID]", "Copy the last answer, the one N back, or a message.", copy),
        SlashCommand("/code", "[N]", "Print and copy the code of the last answer.", code),
        SlashCommand("/export", "[FILE]", "Write this conversation to a file: .md, .html, .jsonl.", export),
        SlashCommand("/attach", "[FILE]", "Attach a file to the next question.", attach),
        SlashCommand("/help", "", "Show this help.", help_),
        SlashCommand("/quit", "", "End the chat; everything is stored.", quit_),
    )
}
ALIASES = {"/exit": "/quit", "/sessions": "/resume", "/regenerate": "/regen", "/undo": "/rewind", "/browse": "/tree"}
"""Other names of the commands."""
