"""Slash commands that move in the tree: `/edit`, `/regen`, `/rewind`, `/fork`, `/tree`, `/resume`, `/retry`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.ask.choose import Choice, Target, carry_out, free_key, plan_conversation
from bough.cli.ask.follow import is_through, session_for
from bough.cli.browser import Picked, browse, can_browse
from bough.cli.commands.chat.reading import number, show, welcome
from bough.cli.output import console
from bough.cli.output.live import aside
from bough.errors import Invalid

if TYPE_CHECKING:
    from bough.cli.commands.chat.loop import ChatLoop
    from bough.model import Node


def edit(loop: ChatLoop, id: str) -> None:
    """Put a question back into the editor; what is then sent becomes another branch at its place."""
    nodes = questions(loop)
    node = loop.store.get_messages([id])[0] if id else nodes[-1] if nodes else None
    if node is None:
        raise Invalid("There is no question to edit here yet.")
    if node.role != "user":
        raise Invalid(f"{node.id} is not a question; only your own messages can be edited.")
    loop.edit(node)
    aside(f"Editing {node.id}: Enter asks it as another branch; the former one is kept. Ctrl+C leaves it as it is.")


def questions(loop: ChatLoop) -> list[Node]:
    """The questions of the dialog, the newest last."""
    return [node for node in loop.session.path() if node.role == "user" and node.kind == "message"]


def regen(loop: ChatLoop, words: str) -> object:
    """Answer the last question again, or that of a message, with another model for this once if one is named."""
    id, model = parse_regen(words)
    return loop.regenerate(id, model)


def parse_regen(words: str) -> tuple[str | None, str | None]:
    """The message and the model of `/regen [ID] [-m MODEL]`. Raises `Invalid`."""
    before, flag, model = f" {words} ".partition(" -m ")
    id, model = before.strip(), model.strip()
    if (flag and not model) or " " in id or " " in model:
        raise Invalid("Write: /regen, /regen -m MODEL, or /regen ID -m MODEL")
    return id or None, model or None


def fork(loop: ChatLoop, id: str) -> None:
    forked = loop.session.fork(id or None, free_key(loop.store, loop.directory))
    forked.update(directory=loop.directory)
    loop.move(forked)
    aside(f"Forked at {forked.head}: {loop.status()}")


def rewind(loop: ChatLoop, words: str) -> None:
    """Go back, and put the question that follows that place into the editor."""
    before = loop.session.path()
    by_turns = not words or (words.isdigit() and len(words) < 4)
    at = loop.session.rewind(turns=number(words) if words else 1) if by_turns else loop.session.rewind(words)
    aside(f"Back at {at}. Nothing was deleted." if at else "Back at the beginning. Nothing was deleted.")
    show(loop.session.path(last=2), loop)
    left = before[next((n for n, node in enumerate(before) if node.id == at), -1) + 1 :]
    loop.draft = next((node.message.text for node in left if node.role == "user" and node.kind == "message"), "")


def tree(loop: ChatLoop, id: str) -> object:
    from bough.cli.output.tree import tree_lines

    head = id or loop.session.head
    if not id and can_browse():
        return pick(loop, head)
    if head is None:
        aside("This conversation is empty.")
    else:
        console.print_lines(tree_lines(loop.store.outline(head, whole=True), loop.session.head))
    return True


def resume(loop: ChatLoop, id: str) -> object:
    if not id and can_browse():
        return pick(loop, None)
    if not id:
        sessions(loop)
        return True
    choice = carry_out(loop.store, plan_conversation(loop.store, Target(resume=id), loop.directory))
    go_to(loop, choice)
    return True


def pick(loop: ChatLoop, at: str | None) -> object:
    """Open the browser, and go on with what is chosen there."""
    picked = browse(loop.store, loop.directory, title="Continue", at=at)
    return True if picked is None else follow(loop, picked)


def follow(loop: ChatLoop, picked: Picked) -> object:
    """Do in this chat what was picked."""
    if picked.verb == "page":
        aside("The page is opened by: bough page")
        return True
    stays = (
        picked.verb in ("edit", "regenerate") and picked.session == loop.session.key and is_through(loop.store, picked)
    )
    if not stays:
        go_to(loop, session_for(loop.store, picked, loop.directory))
    return begin(loop, picked)


def begin(loop: ChatLoop, picked: Picked) -> object:
    """What happens first in the conversation that was picked."""
    if picked.verb == "edit" and picked.id is not None:
        edit(loop, picked.id)
    elif picked.verb == "regenerate":
        return loop.regenerate(picked.id, picked.model)
    return True


def go_to(loop: ChatLoop, choice: Choice) -> None:
    """Switch to another conversation, and show where it stands."""
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
