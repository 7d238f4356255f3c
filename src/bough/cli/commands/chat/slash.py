"""What can be said to the chat itself: `/new`, `/fork`, `/help` and the others."""

from __future__ import annotations

import os
from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bough.cli.ask.choose import Wish, begun, choose, free_key
from bough.cli.output import console
from bough.cli.output.live import aside, token_counts
from bough.cli.output.text import one_line
from bough.errors import BoughError, Invalid
from bough.model.values import value

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import Talk
    from bough.model import Node


@value
class Command:
    """One command: what comes after its name, what it does, and its work on the words that were said."""

    name: str
    takes: str
    about: str
    work: Callable[[Talk, str], object]


def obey(talk: Talk, said: str) -> bool:
    """Does what a line says; whether the chat goes on."""
    from bough.cli.commands.chat.loop import complain

    name, _, words = said.strip().partition(" ")
    command = COMMANDS.get(ALIASES.get(name, name))
    if command is None:
        near = get_close_matches(name, COMMANDS, 1)
        complain(f"There is no {name}.{f' Did you mean {near[0]}?' if near else ''} /help lists what there is.")
        return True
    try:
        return command.work(talk, words.strip()) is not False
    except KeyboardInterrupt:
        complain("Stopped.")
    except (BoughError, OSError) as problem:
        complain(str(problem))
    return True


def welcome(talk: Talk) -> None:
    """Says where we are; of a conversation that goes on, its last exchange."""
    aside(f"{talk.status()} · /help")
    if console.on_terminal():
        show(talk.session.path(last=2), talk)


def show(nodes: list[Node], talk: Talk) -> None:
    """Writes messages as `bough show` does."""
    from bough.cli.commands.show import turns_of
    from bough.cli.output.transcript import Folding, transcript

    console.print_lines(transcript(nodes, turns_of(talk.store, nodes), Folding()))


def new(talk: Talk, title: str) -> None:
    talk.move(begun(talk.store, talk.directory), alone=True)
    if title:
        talk.session.update(title=title)
    aside(f"A new conversation: {talk.status()}")


def clear(talk: Talk, _: str) -> None:
    before = talk.store.trash()
    talk.session.clear()
    gone = talk.store.trash()[: -len(before) or None]
    aside(f"Empty now. bough restore {gone[0].id} brings back what was here." if gone else "Empty.")


def history(talk: Talk, words: str) -> None:
    path = talk.session.path(last=number(words) if words else None)
    show(path, talk) if path else aside("Nothing was said here yet.")


def fork(talk: Talk, id: str) -> None:
    forked = talk.session.fork(id or None, free_key(talk.store, talk.directory))
    forked.update(directory=talk.directory)
    talk.move(forked)
    aside(f"Forked at {forked.head}: {talk.status()}")


def rewind(talk: Talk, words: str) -> None:
    by_turns = not words or (words.isdigit() and len(words) < 4)
    at = talk.session.rewind(turns=number(words) if words else 1) if by_turns else talk.session.rewind(words)
    aside(f"Back at {at}. Nothing is deleted." if at else "Back at the beginning. Nothing is deleted.")
    show(talk.session.path(last=2), talk)


def tree(talk: Talk, id: str) -> None:
    from bough.cli.output.tree import tree_lines

    head = id or talk.session.head
    if head is None:
        aside("Nothing was said here yet.")
        return
    console.print_lines(tree_lines(talk.store.outline(head, whole=True), talk.session.head))


def resume(talk: Talk, id: str) -> None:
    if not id:
        sessions(talk)
        return
    choice = choose(talk.store, Wish(resume=id), talk.directory)
    talk.move(choice.session)
    if choice.note:
        aside(choice.note)
    welcome(talk)


def sessions(talk: Talk) -> None:
    """The conversations that `/resume` could mean."""
    from bough.cli.commands.sessions import session_table

    console.print_lines(session_table(talk.store, talk.store.sessions(delegates=False, limit=10)))


def retry(talk: Talk, id: str) -> object:
    turn = id or next((one.id for one in talk.session.turns(limit=1) if one.status != "complete"), None)
    if turn is None:
        raise Invalid("The last turn is complete. /rewind, and ask again.")
    return talk.retry(turn)


def model(talk: Talk, spec: str) -> None:
    if spec:
        talk.recast(model=spec)
    aside(talk.status())


def agent(talk: Talk, name: str) -> None:
    if name:
        talk.recast(agent=name)
        aside(talk.status())
    else:
        aside(", ".join(talk.config.names("agents")) or "There is no [agents.NAME] in the configuration.")


def system(talk: Talk, words: str) -> None:
    if words:
        talk.recast(system="" if words == "-" else words)
    aside(f"System prompt: {one_line(talk.agent.instructions)}" if talk.agent.instructions else "No system prompt.")


def compact(talk: Talk, words: str) -> None:
    from bough.agent.compaction import Summarizer

    keep = number(words) if words else talk.agent.compaction.keep_turns
    aside("Summing up…")
    summarize = Summarizer(talk.agent.provider)
    made = talk.session.compact(summarize, keep)
    done = f"Summed up in {made}{token_counts(summarize.spent)}; /history still has everything."
    aside(done if made else f"There are not more than {keep} turns.")


def title(talk: Talk, words: str) -> None:
    if words:
        talk.session.update(title=words)
    aside(f"Title: {one_line(talk.session.info.title or '–')}")


def search(talk: Talk, words: str) -> None:
    from bough.cli.commands.search import hit_lines

    if not words:
        raise Invalid("Search for what? /search WORDS")
    hits = talk.store.search(words, limit=10)
    console.print_lines(hit_lines(hits, (words,)))
    if not hits:
        aside("Nothing found.")


def export(talk: Talk, words: str) -> None:
    from bough.cli.commands.export import FORMATS, JSONL, conversation_text, write_output
    from bough.exporters import jsonl

    head = talk.session.head
    if head is None:
        raise Invalid("Nothing was said here yet; there is nothing to export.")
    file = os.path.expanduser(words) or f"{talk.session.key.replace(':', '-').replace('/', '-')}.md"
    ending = file.rpartition(".")[2]
    if ending == JSONL:
        write_output(file, False, jsonl.some(talk.store, [head], False))
    else:
        write_output(
            file, False, conversation_text(talk.store, head, ending if ending in FORMATS else "md", False, False)
        )


def attach(talk: Talk, file: str) -> None:
    from bough.cli.ask.attach import attached

    if file:
        attached([file])
        talk.files.append(file)
    aside(f"With the next question: {', '.join(map(one_line, talk.files)) or 'nothing'}")


def help_(_: Talk, __: str) -> None:
    for command in COMMANDS.values():
        print(f"{console.styled(f'{command.name} {command.takes}'.strip(), 'bold'):<30} {command.about}")
    aside("Alt+Enter begins a new line. Ctrl+C stops an answer. A line that begins with a space is never a command.")


def quit_(_: Talk, __: str) -> bool:
    return False


COMMANDS = {
    command.name: command
    for command in (
        Command("/new", "[TITLE]", "Start afresh; what was here stays.", new),
        Command("/clear", "", "Empty this conversation; it goes to the trash.", clear),
        Command("/history", "[N]", "Show what was said.", history),
        Command("/fork", "[ID]", "Go on in a fork, here or at a message.", fork),
        Command("/rewind", "[N|ID]", "Go back by turns, or to a message.", rewind),
        Command("/retry", "[ID]", "Take up the turn that did not complete.", retry),
        Command("/tree", "[ID]", "Draw this conversation with all its branches.", tree),
        Command("/resume", "[ID]", "Go on with another conversation; without ID, list them.", resume),
        Command("/model", "[NAME]", "Say or change who answers.", model),
        Command("/agent", "[NAME]", "Let an agent of the configuration answer.", agent),
        Command("/system", "[TEXT|-]", "Say or change the system prompt; - takes it away.", system),
        Command("/compact", "[KEEP]", "Sum up the older turns.", compact),
        Command("/title", "[TEXT]", "Say or change the title.", title),
        Command("/search", "WORDS", "Find what was said, anywhere.", search),
        Command("/export", "[FILE]", "Write this conversation to a file: .md, .html, .jsonl.", export),
        Command("/attach", "[FILE]", "Send a file along with the next question.", attach),
        Command("/help", "", "Show this.", help_),
        Command("/quit", "", "End the chat. Everything is kept.", quit_),
    )
}
ALIASES = {"/exit": "/quit", "/sessions": "/resume"}
"""What people type too."""


def number(words: str) -> int:
    """How many. Raises `Invalid`."""
    if not words.isdigit() or int(words) == 0:
        raise Invalid(f"How many? {words!r} is no number.")
    return int(words)
