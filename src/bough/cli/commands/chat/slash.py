"""Slash commands of a chat: `/new`, `/fork`, `/help` and the others."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bough.cli.ask.choose import Target, carry_out, free_key, plan_conversation, plan_new
from bough.cli.output import console
from bough.cli.output.live import aside, token_counts, unfinished_line
from bough.cli.output.text import one_line
from bough.errors import BoughError, Invalid
from bough.model.values import value

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import ChatLoop
    from bough.model import Node


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


def welcome(loop: ChatLoop) -> None:
    """Write the status, the last exchange of a stored conversation, and a turn that was interrupted after it."""
    aside(f"{loop.status()} · /help")
    if console.on_terminal():
        show(loop.session.path(last=2), loop)
    if left := unfinished_line(loop.session, "/retry"):
        aside(left)


def show(nodes: list[Node], loop: ChatLoop, *, from_end: bool = False) -> None:
    """Write messages like `bough show`."""
    from bough.cli.commands.show import turns_of
    from bough.cli.output.transcript import Folding, transcript

    console.print_lines(transcript(nodes, turns_of(loop.store, nodes), Folding()), from_end=from_end)


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


def history(loop: ChatLoop, words: str) -> None:
    path = loop.session.path(last=number(words) if words else None)
    show(path, loop, from_end=True) if path else aside("This conversation is empty.")


def fork(loop: ChatLoop, id: str) -> None:
    forked = loop.session.fork(id or None, free_key(loop.store, loop.directory))
    forked.update(directory=loop.directory)
    loop.move(forked)
    aside(f"Forked at {forked.head}: {loop.status()}")


def rewind(loop: ChatLoop, words: str) -> None:
    by_turns = not words or (words.isdigit() and len(words) < 4)
    at = loop.session.rewind(turns=number(words) if words else 1) if by_turns else loop.session.rewind(words)
    aside(f"Back at {at}. Nothing was deleted." if at else "Back at the beginning. Nothing was deleted.")
    show(loop.session.path(last=2), loop)


def tree(loop: ChatLoop, id: str) -> None:
    from bough.cli.output.tree import tree_lines

    head = id or loop.session.head
    if head is None:
        aside("This conversation is empty.")
        return
    console.print_lines(tree_lines(loop.store.outline(head, whole=True), loop.session.head))


def resume(loop: ChatLoop, id: str) -> None:
    if not id:
        sessions(loop)
        return
    choice = carry_out(loop.store, plan_conversation(loop.store, Target(resume=id), loop.directory))
    loop.move(choice.session)
    if choice.note:
        aside(choice.note)
    welcome(loop)


def sessions(loop: ChatLoop) -> None:
    """List the conversations that `/resume` can name."""
    from bough.cli.commands.sessions import session_table

    console.print_lines(session_table(loop.store, loop.store.sessions(delegates=False, limit=10)))


def retry(loop: ChatLoop, id: str) -> object:
    turn = id or next((one.id for one in loop.session.unfinished), None)
    if turn is None:
        raise Invalid("No turn was interrupted here. /rewind, and ask again.")
    return loop.retry(turn)


def model(loop: ChatLoop, spec: str) -> None:
    if spec:
        loop.change_agent(model=spec)
    aside(loop.status())


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
    made = loop.session.compact(summarize, keep, budget=budget)
    done = f"Summarized in {made}{token_counts(summarize.spent)}; /history still has everything."
    aside(done if made else f"There are no more than {keep or 1} turns.")


def title(loop: ChatLoop, words: str) -> None:
    if words:
        loop.session.update(title=words)
    aside(f"Title: {one_line(loop.session.info.title or '–')}")


def search(loop: ChatLoop, words: str) -> None:
    from bough.cli.commands.search import find, hit_lines, note_differences
    from bough.model.search_query import parse_query

    if not words:
        raise Invalid("/search needs words: /search WORDS")
    query = parse_query(words)
    hits = find(loop.store, query, "newest", 10, 0)
    note_differences(hits)
    console.print_lines(hit_lines(hits, query.wanted.split()))
    if not hits:
        aside("Nothing found.")


def export(loop: ChatLoop, words: str) -> None:
    from bough.cli.commands.export import JSONL, conversation_text, format_of, write_output
    from bough.exporters import jsonl

    head = loop.session.head
    if head is None:
        raise Invalid("This conversation is empty; there is nothing to export.")
    file = os.path.expanduser(words) or f"{loop.session.key.replace(':', '-').replace('/', '-')}.md"
    format_ = format_of(file)
    if format_ == JSONL:
        write_output(file, False, jsonl.some(loop.store, [head], False))
    else:
        write_output(file, False, conversation_text(loop.store, head, format_, False, False))


def attach(loop: ChatLoop, file: str) -> None:
    from bough.cli.ask.attach import attached

    if file:
        attached([file])
        loop.files.append(file)
    aside(f"With the next question: {', '.join(map(one_line, loop.files)) or 'nothing'}")


def help_(_: ChatLoop, __: str) -> None:
    for command in COMMANDS.values():
        print(f"{console.styled(f'{command.name} {command.arguments}'.strip(), 'bold'):<30} {command.help}")
    aside("Alt+Enter inserts a line break. Ctrl+C stops a reply. A line that starts with a space is never a command.")


def quit_(_: ChatLoop, __: str) -> bool:
    return False


COMMANDS = {
    command.name: command
    for command in (
        SlashCommand("/new", "[TITLE]", "Start a new conversation; this one is kept.", new),
        SlashCommand("/clear", "", "Empty this conversation; its messages go to the trash.", clear),
        SlashCommand("/history", "[N]", "Show the messages.", history),
        SlashCommand("/fork", "[ID]", "Continue in a fork, from here or from a message.", fork),
        SlashCommand("/rewind", "[N|ID]", "Go back by turns, or to a message.", rewind),
        SlashCommand("/retry", "[ID]", "Resume the turn that did not complete.", retry),
        SlashCommand("/tree", "[ID]", "Draw this conversation with all its branches.", tree),
        SlashCommand("/resume", "[ID]", "Continue another conversation; without ID, list them.", resume),
        SlashCommand("/model", "[NAME]", "Show or change the model.", model),
        SlashCommand("/agent", "[NAME]", "Switch to an agent of the configuration, or list them.", agent),
        SlashCommand("/system", "[TEXT|-]", "Show or change the system prompt; - removes it.", system),
        SlashCommand("/compact", "[KEEP]", "Summarize the older turns.", compact),
        SlashCommand("/title", "[TEXT]", "Show or change the title.", title),
        SlashCommand("/search", "WORDS", "Search all conversations.", search),
        SlashCommand("/export", "[FILE]", "Write this conversation to a file: .md, .html, .jsonl.", export),
        SlashCommand("/attach", "[FILE]", "Attach a file to the next question.", attach),
        SlashCommand("/help", "", "Show this help.", help_),
        SlashCommand("/quit", "", "End the chat; everything is stored.", quit_),
    )
}
ALIASES = {"/exit": "/quit", "/sessions": "/resume"}
"""Other names of the commands."""


def number(words: str) -> int:
    """A count of at least 1. Raises `Invalid`."""
    if not words.isdigit() or int(words) == 0:
        raise Invalid(f"{words!r} is not a whole number of at least 1.")
    return int(words)
