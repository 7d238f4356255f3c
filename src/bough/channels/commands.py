"""Commands of a chat: `/new`, `/branches`, `/model` and the others."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from bough.channels.service import Menu
from bough.errors import BoughError, Invalid
from bough.model.values import value
from bough.runtime.settings import AgentOptions

if TYPE_CHECKING:
    from bough.channels.channel import Channel
    from bough.channels.events import ChannelEvent
    from bough.session import Session

MOST_BUTTONS = 8
RECENT = 10
WIDTH = 60


@value
class Reply:
    """The reply to a command: its text, buttons, and a file."""

    text: str
    menu: Menu = ()
    file: tuple[str, bytes] | None = None


@value
class CommandCall:
    """A command, and where it was given."""

    channel: Channel
    session: Session
    event: ChannelEvent

    @property
    def words(self) -> str:
        """What follows the name of the command."""
        return self.event.text.strip()


@value
class ChatCommand:
    """A command: its name and help, and the function that runs it."""

    name: str
    about: str
    run: Callable[[CommandCall], Reply]


def run_command(channel: Channel, event: ChannelEvent) -> Reply:
    """Run the command of an event. An error is the reply."""
    name = event.command or ""
    command = COMMANDS.get(name)
    if command is None:
        near = get_close_matches(name, COMMANDS, 1)
        return Reply(f"There is no /{name}.{f' Did you mean /{near[0]}?' if near else ''} /help lists the commands.")
    try:
        return command.run(CommandCall(channel, channel.session(event.conversation), event))
    except BoughError as error:
        return Reply(f"⚠ {error}")


def new(asked: CommandCall) -> Reply:
    kept = asked.session.new(asked.words or None)
    return Reply(f"A new conversation. The former one is kept as {kept.key}." if kept else "This one is new already.")


def clear(asked: CommandCall) -> Reply:
    asked.session.clear()
    return Reply("Empty now. The messages are in the trash, and can be restored from there.")


def history(asked: CommandCall) -> Reply:
    nodes = [node for node in asked.session.path(last=number(asked.words, RECENT)) if node.message.text]
    if not nodes:
        return Reply("This conversation is empty.")
    return Reply("\n\n".join(f"**{node.role}** `{node.id}`\n{shorten(node.message.text, 300)}" for node in nodes))


def fork(asked: CommandCall) -> Reply:
    forked = asked.session.fork(asked.words or None)
    return Reply(f"Forked as {forked.key}. Continue it in a terminal: `bough chat --session {forked.key}`")


def branches(asked: CommandCall) -> Reply:
    """List the branches as buttons, or go to one."""
    session, store = asked.session, asked.channel.store
    if asked.words:
        session.move(store.path(asked.words, last=1)[0].id)
        return Reply(f"Here now:\n{shorten(last_words(session), 300)}")
    found = session.branches()
    if len(found) < 2:
        return Reply("There is one branch. Reply to an older message, and there are two.")
    head = session.head
    menu = [
        (f"{'● ' if branch.last.id == head else ''}{shorten(branch.last.words, 30)}", f"branches {branch.last.id}")
        for branch in found[:MOST_BUTTONS]
    ]
    return Reply(f"{len(found)} branches; ● is where this chat is.", menu)


def model(asked: CommandCall) -> Reply:
    """Show the models as buttons, or choose one."""
    from bough.providers import find

    channel = asked.channel
    if asked.words:
        find(asked.words, channel.runtime.config.tables("providers")).close()
        channel.runtime.store_options(asked.session, AgentOptions(model=asked.words))
        return Reply(f"The model is {asked.words} from now on.")
    with channel.agent(asked.session) as agent:
        current = f"{agent.provider.name}:{agent.provider.model}"
    known = [str(one) for one in channel.settings.options.get("models", ())]
    menu = [(name, f"model {name}") for name in known[:MOST_BUTTONS]]
    return Reply(f"The model is {current}. /model NAME uses another one.", menu)


def system(asked: CommandCall) -> Reply:
    if asked.words:
        chosen = "" if asked.words == "-" else asked.words
        asked.channel.runtime.store_options(asked.session, AgentOptions(system=chosen))
    with asked.channel.agent(asked.session) as agent:
        return Reply(f"System prompt:\n{agent.instructions}" if agent.instructions else "There is no system prompt.")


def usage(asked: CommandCall) -> Reply:
    channel, event = asked.channel, asked.event
    total = asked.session.usage().usage
    tokens, cost = channel.members.spent(event.sender, channel.store.clock())
    price = "" if total.cost is None else f", ${total.cost:.4f}"
    said = f"This conversation: {total.input_tokens or 0:,} tokens in, {total.output_tokens or 0:,} out{price}."
    return Reply(f"{said}\nYou, today: {tokens:,} tokens, ${cost:.4f}.")


def compact(asked: CommandCall) -> Reply:
    from bough.agent.compaction import Summarizer, context_window

    with asked.channel.agent(asked.session) as agent:
        summarize = Summarizer(agent.provider)
        budget = agent.budget or context_window(agent.provider)
        made = asked.session.compact(
            summarize, agent.compaction.keep_turns, budget=budget, usage=lambda: summarize.spent
        )
    return Reply("Summarized; /history still has everything." if made else "There is nothing to summarize yet.")


def search(asked: CommandCall) -> Reply:
    from bough.model.search_query import parse_query

    if not asked.words:
        raise Invalid("/search needs words: /search WORDS")
    key = asked.session.key
    hits = asked.channel.store.search(parse_query(asked.words), session=key, limit=MOST_BUTTONS)
    if not hits:
        return Reply("Nothing was found in this conversation.")
    lines = [f"`{hit.node.id}` {hit.node.role}: {shorten(hit.snippet, 200)}" for hit in hits]
    menu = [(f"Go to {hit.node.id}", f"branches {hit.node.id}") for hit in hits]
    return Reply("\n\n".join(lines), menu)


def export(asked: CommandCall) -> Reply:
    from bough.exporters import get
    from bough.exporters.collect import collect

    head = asked.session.head
    if head is None:
        raise Invalid("This conversation is empty; there is nothing to export.")
    text = "".join(get("md").write(collect(asked.channel.store, head)))
    return Reply("The conversation:", file=("conversation.md", text.encode("utf-8", "replace")))


def undo(asked: CommandCall) -> Reply:
    left = asked.session.head
    asked.session.rewind()
    return Reply(f"The last question and its answer are off the dialog. They are kept: /branches {left}")


def help_(_: CommandCall) -> Reply:
    lines = [f"/{command.name}: {command.about}" for command in COMMANDS.values()]
    how = "Reply to an older message to continue from there. Edit a question to ask it again."
    return Reply("\n".join([*lines, "", how]))


def elsewhere(_: CommandCall) -> Reply:
    """Commands that the workers carry out themselves."""
    raise Invalid("This command is not for here.")


COMMANDS = {
    command.name: command
    for command in (
        ChatCommand("new", "Start a new conversation; this one is kept", new),
        ChatCommand("clear", "Empty this conversation", clear),
        ChatCommand("history", "Show the last messages", history),
        ChatCommand("fork", "Keep this point as a conversation of its own", fork),
        ChatCommand("branches", "List the branches, or go to one", branches),
        ChatCommand("model", "Show or change the model", model),
        ChatCommand("system", "Show or change the system prompt; - removes it", system),
        ChatCommand("usage", "Show tokens and cost", usage),
        ChatCommand("compact", "Summarize the older turns", compact),
        ChatCommand("search", "Search this conversation", search),
        ChatCommand("export", "Send this conversation as a file", export),
        ChatCommand("retry", "Ask the last question again", elsewhere),
        ChatCommand("undo", "Take the last question and answer off the dialog", undo),
        ChatCommand("stop", "Stop the answer", elsewhere),
        ChatCommand("help", "Show this help", help_),
    )
}


def last_words(session: Session) -> str:
    nodes = session.path(last=1)
    return nodes[-1].message.text if nodes else "(empty)"


def shorten(text: str, width: int = WIDTH) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= width else f"{line[: width - 1]}…"


def number(words: str, default: int) -> int:
    """A count of messages. Raises `Invalid`."""
    if words and not (words.isdigit() and 0 < int(words) <= 100):
        raise Invalid(f"{words!r} is not a number from 1 to 100.")
    return int(words) if words else default
