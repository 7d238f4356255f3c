"""Choose the session of a question from `-c`, `--resume`, `-n` and `--session`: first a plan, then its execution.

Without a flag it is the session that this directory last talked to. A subagent's session, and a session that ends in a
question without a reply, are continued only by name, unless that question was stopped by the user.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bough.cli.refs import find_session
from bough.errors import Invalid, NotFound, Refused
from bough.model import Node, SessionInfo, TurnInfo
from bough.model.ids import ALPHABET, LENGTH, SHORTEST_PREFIX, mint
from bough.model.keys import cli_key
from bough.model.values import replace, value

if TYPE_CHECKING:
    from bough.session import Session
    from bough.store import Store

CHANNEL = "cli"
SUBAGENT = "subagent:"
NOTHING_TO_ASK = "There is nothing to ask: write what you want to know."


@value
class Target:
    """The conversation that the command line names."""

    last: bool = False
    """`-c` alone."""
    after: str | None = None
    """`-c ID`: from exactly this message."""
    resume: str | None = None
    """`--resume ID`: the conversation of this message, or this session."""
    new: bool = False
    session: str | None = None


@value
class ConversationPlan:
    """The session that a question goes to. Making a plan only reads; `carry_out` opens, creates or forks."""

    key: str
    info: SessionInfo | None = None
    """The stored session that is continued or forked: its model, agent and system prompt apply."""
    fork_at: str | None = None
    """The message at which `key` is forked."""
    directory: str | None = None
    """The directory that the session gets; None leaves it as it is."""
    here: str | None = None
    """The directory of the user, which continues the session from the next question on."""
    restart: bool = False
    """Whether the session starts empty, and what it held moves to another key."""
    note: str | None = None
    unfinished: str | None = None
    answer_at: str | None = None


@value
class Choice:
    """The session in which the question is asked."""

    session: Session
    note: str | None = None
    """Message to the user about how the session was chosen."""
    unfinished: str | None = None
    """The turn that is resumed; a question is added to it."""
    answer_at: str | None = None
    """The stored question that gets another answer, instead of a new question."""


def plan_conversation(store: Store, target: Target, directory: str, asks: bool = True) -> ConversationPlan:
    """Plan which session gets the question. Without a question (`asks`), a stored one may be repeated.

    Raises `NotFound` (`No conversation to continue`, `Conversation not found`), `Ambiguous` for an incomplete id, and
    `Invalid` for contradictory flags.
    """
    check(target)
    return replace(_plan(store, target, directory, asks), here=directory)


def _plan(store: Store, target: Target, directory: str, asks: bool) -> ConversationPlan:
    if target.resume is not None:
        return plan_resume(store, target.resume, directory, asks)
    if target.after is not None:
        return plan_after(store, target.after, directory, asks, target.session)
    if target.session is not None:
        return plan_named(store, target, directory)
    found = None
    if target.last:
        found = last_here(store, directory)
    elif not target.new:
        found = find_last(store, directory, empty=True)
    return ConversationPlan(found.key, found) if found else plan_new(store, directory)


def carry_out(store: Store, plan: ConversationPlan) -> Choice:
    """Open, create or fork the planned session. Raises `Conflict` when a fork's key is in use by then."""
    if plan.fork_at is not None:
        (store.session(plan.info.key) if plan.info else store).fork(plan.fork_at, plan.key)
    session = store.session(plan.key, directory=plan.here)
    if plan.directory is not None and session.info.directory != plan.directory:
        session.update(directory=plan.directory)
    former = session.new() if plan.restart else None
    note = f"What was there is now {former.key}" if former else plan.note
    return Choice(session, note, plan.unfinished, plan.answer_at)


def planned_dialog(store: Store, plan: ConversationPlan) -> list[Node]:
    """The dialog that the planned session starts with, without carrying the plan out."""
    if plan.fork_at is not None:
        return store.path(plan.fork_at)
    is_empty = plan.restart or plan.info is None or plan.info.key != plan.key
    return [] if is_empty or not plan.info or plan.info.head_id is None else store.path(plan.info.head_id)


def check(target: Target) -> None:
    """Raise `Invalid` for contradictory flags."""
    flags = {"-n": target.new, "-c": target.last or target.after is not None, "--resume": target.resume is not None}
    given = [flag for flag, is_given in flags.items() if is_given]
    if len(given) > 1:
        raise Invalid(f"{' and '.join(given)} contradict each other; use one of them.")
    if target.session is not None and not target.session.strip():
        raise Invalid("--session needs a name.")
    if target.resume is not None and target.session is not None:
        raise Invalid("--resume and --session both name a conversation; use one of them.")


def read_continue(store: Store, value: str, words: list[str]) -> tuple[str | None, list[str]]:
    """Split the value of `-c` into an id, if a message has it, and the words of the prompt.

    Raises `NotFound` for a value that can only be an id, and `Refused` for a word that is also the beginning of one.
    """
    if not value or not re.fullmatch(f"[{ALPHABET}]+", value):
        return None, [value, *words] if value else words
    found = store.find_id(value) if len(value) >= SHORTEST_PREFIX else None
    looks_like_an_id = any(character.isdigit() for character in value) and not value.isdigit()
    if found is None:
        if looks_like_an_id and len(value) == LENGTH:
            raise NotFound(f"Conversation not found: there is no message {value!r}. {_quote(value, words)}")
        return None, [value, *words]
    if len(value) == SHORTEST_PREFIX and not looks_like_an_id:  # a longer word begins an id once in 60 million
        raise Refused(f"{value!r} is a word and the beginning of the id {found!r}. {_quote(value, words)}")
    return found, words


def _quote(value: str, words: list[str]) -> str:
    prompt = " ".join([value, *words])
    return f"If it is a word of the prompt, quote all of it: -c {prompt!r}"


# By directory ---------------------------------------------------------------------------------------------------------


def find_last(store: Store, directory: str, *, empty: bool = False) -> SessionInfo | None:
    """The session that this directory last talked to, if it can be continued; else the last one used of its own.

    With `empty`, also one without messages.
    """
    last = store.last_session(directory)
    is_subagents = last is not None and (last.parent_key is not None or last.channel == "subagent")
    if last and not is_subagents and ((empty and last.head_id is None) or is_continuable(store, last)):
        return last
    before: int | None = None
    while page := store.sessions(channel=CHANNEL, directory=directory, delegates=False, limit=20, before=before):
        for info in page:
            if (empty and info.head_id is None) or is_continuable(store, info):
                return info
        before = page[-1].cursor
    return None


def last_here(store: Store, directory: str) -> SessionInfo:
    """Like `find_last`, but raises `NotFound`, with the last session of another directory in the message."""
    found = find_last(store, directory)
    if found is not None:
        return found
    elsewhere = next((i for i in store.sessions(delegates=False, limit=20) if is_continuable(store, i)), None)
    hint = f" The last one elsewhere: --resume {elsewhere.key}" if elsewhere else " Ask something: bough run PROMPT"
    raise NotFound(f"No conversation to continue in this directory.{hint}")


def is_continuable(store: Store, info: SessionInfo) -> bool:
    """Whether the session's head is a reply or the end of a stopped turn, and not part of a subagent's conversation."""
    if info.head_id is None:
        return False
    (head,) = store.get_messages([info.head_id])
    if (head.label or "").startswith(SUBAGENT):
        return False
    if is_answered(head):
        return True
    turn = find_turn(store, head)
    return turn is not None and turn.status == "stopped"


def is_answered(node: Node) -> bool:
    return node.kind == "summary" or node.role in ("assistant", "tool_result")


def plan_new(store: Store, directory: str) -> ConversationPlan:
    """A new session of this directory. The newest one is reused if it has never had a turn."""
    newest = next(iter(store.sessions(channel=CHANNEL, directory=directory, delegates=False, limit=1)), None)
    # A turn may be running in a session without a head: another process has just asked there.
    if newest and newest.head_id is None and not store.turns(newest.key, limit=1):
        return ConversationPlan(newest.key, newest, here=directory)
    return ConversationPlan(free_key(store, directory), directory=directory, here=directory)


def free_key(store: Store, directory: str) -> str:
    """An unused key: the name of the directory, with a random suffix if necessary."""
    name = re.sub(r"[^\w.-]+", "-", directory.rstrip("/\\").replace("\\", "/").rpartition("/")[2])[:80].strip("-")
    key = cli_key(name or "default")
    while store.find_session(key) is not None:
        key = cli_key(f"{name or 'default'}-{mint(4)}")
    return key


# By name --------------------------------------------------------------------------------------------------------------


def session_key(name: str) -> str:
    """`work` is `cli:work`; a name with a colon is a whole key."""
    return name if ":" in name else cli_key(name)


def plan_named(store: Store, target: Target, directory: str) -> ConversationPlan:
    """`--session NAME`: continue it or create it; with `-n`, start it afresh."""
    key = session_key(target.session or "")
    info = store.find_session(key)
    if target.last and (info is None or info.head_id is None):
        raise NotFound(f"No conversation to continue: session {key!r} is empty.")
    return ConversationPlan(key, info, directory=new_directory(info, directory), restart=target.new)


def new_directory(info: SessionInfo | None, directory: str) -> str | None:
    """The directory to give to a session: to a new one, or to one of the command line without any, as a fork is."""
    if info is None or (info.directory is None and info.channel == CHANNEL):
        return directory
    return None


def plan_resume(store: Store, name: str, directory: str, asks: bool) -> ConversationPlan:
    """`--resume`: the conversation of this name, which is a session's key or the id of any message of it."""
    node = find_node(store, name)
    turn = find_turn(store, node) if node else None
    if turn and is_unfinished(turn):
        return plan_retry(store, turn, directory, asks)
    info = find_session(store, name)
    if info is None and node is not None:
        info = find_session_of(store, node, turn)
    if info is not None:
        return ConversationPlan(info.key, info)
    return plan_branch(store, existing(node, name), turn, directory, asks)


def find_session_of(store: Store, node: Node, turn: TurnInfo | None) -> SessionInfo | None:
    """The session that a message belongs to: the one of its turn if that still leads through it, else the newest."""
    through = [info for info in store.sessions_through(node.id) if not info.parent_key and info.channel != "subagent"]
    own = [info for info in through if turn and info.key == turn.session]
    return next(iter(own or through), None)


def plan_after(store: Store, id: str, directory: str, asks: bool, name: str | None) -> ConversationPlan:
    """`-c ID`: exactly from this message, in this directory's session with that head, or in a fork."""
    node = existing(find_node(store, id), id)
    turn = find_turn(store, node)
    if not asks and turn and is_unfinished(turn):
        return plan_retry(store, turn, directory, asks)
    if asks and name is None and (info := find_session_at(store, node.id, directory)):
        return ConversationPlan(info.key, info, directory=new_directory(info, directory))
    return plan_branch(store, node, turn, directory, asks, name)


def find_session_at(store: Store, id: str, directory: str) -> SessionInfo | None:
    """A session of this directory whose head is this message. Those of bots and subagents are never taken."""
    for info in store.sessions_through(id):
        is_here = info.channel == CHANNEL and info.parent_key is None and info.directory in (None, directory)
        if is_here and info.head_id == id:
            return info
    return None


def plan_retry(store: Store, turn: TurnInfo, directory: str, asks: bool) -> ConversationPlan:
    """Resume a turn that did not complete: in its session, or in a fork if the session has moved on."""
    info = find_origin(store, turn)
    if info and info.head_id == turn.parent_id:
        return ConversationPlan(info.key, info, note=f"Taking up {turn.id} again", unfinished=turn.id)
    if not asks:
        return plan_repeat(store, store.get_messages([turn.id])[0], info, directory)
    key = free_key(store, directory)
    note = f"Taking up {turn.id} again as {key}"
    return ConversationPlan(key, info, fork_at=turn.last_id, directory=directory, note=note)


def plan_branch(
    store: Store, node: Node, turn: TurnInfo | None, directory: str, asks: bool, name: str | None = None
) -> ConversationPlan:
    """Fork at a message; without a question, repeat this message as its sibling. Raises `Invalid` for a reply."""
    origin = find_origin(store, turn)
    if asks:
        key = free_key(store, directory) if name is None else session_key(name)
        note = f"Forked at {node.id} as {key}"
        return ConversationPlan(key, origin, fork_at=node.id, directory=directory, note=note)
    if node.role == "user" and node.kind == "message":
        return plan_repeat(store, node, origin, directory)
    raise Invalid(NOTHING_TO_ASK)


def plan_repeat(store: Store, node: Node, origin: SessionInfo | None, directory: str) -> ConversationPlan:
    """Answer a stored question again: in its session, if it is on its path and of this directory, else in a fork."""
    own = [info.key for info in store.sessions_through(node.id)]
    if origin and origin.key in own and origin.channel == CHANNEL and origin.directory in (None, directory):
        return ConversationPlan(origin.key, origin, note=f"Answering {node.id} again", answer_at=node.id)
    key = free_key(store, directory)
    note = f"Answering {node.id} again in {key}"
    return ConversationPlan(key, origin, node.id, directory, note=note, answer_at=node.id)


def find_origin(store: Store, turn: TurnInfo | None) -> SessionInfo | None:
    """The session in which a turn was saved, unless it was deleted."""
    return store.find_session(turn.session) if turn and turn.session else None


def is_unfinished(turn: TurnInfo) -> bool:
    return turn.status in ("interrupted", "failed")


def find_node(store: Store, id: str) -> Node | None:
    """The message with this id or unique prefix. Raises `Ambiguous`."""
    try:
        return store.get_messages([id])[0]
    except NotFound:
        return None


def existing(node: Node | None, id: str) -> Node:
    """The message itself. Raises `NotFound`."""
    if node is None:
        raise NotFound(f"Conversation not found: there is no message {id!r}. `bough conversations` lists them.")
    return node


def find_turn(store: Store, node: Node) -> TurnInfo | None:
    return None if node.turn_id is None else store.turn_info(node.turn_id)
