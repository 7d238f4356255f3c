"""Which conversation is meant: the one place that knows what `-c`, `--resume`, `-n` and `--session` say.

Without a flag it is the conversation that was last held on the command line in this directory. A subagent's trace, and
a session that stands at the user's words without a reply, are never continued unless they are named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bough.cli.refs import find_session
from bough.errors import Invalid, NotFound, Refused
from bough.model import Message, Node, SessionInfo, TurnInfo
from bough.model.ids import ALPHABET, LENGTH, SHORTEST_PREFIX, mint
from bough.model.keys import cli_key
from bough.model.values import value

if TYPE_CHECKING:
    from bough.session import Session
    from bough.store import Store

CHANNEL = "cli"
SUBAGENT = "subagent:"


@value
class Wish:
    """What the command line says of which conversation is meant."""

    last: bool = False
    """`-c` alone."""
    after: str | None = None
    """`-c ID`: from this very message."""
    resume: str | None = None
    """`--resume ID`: the conversation that this message, or session, belongs to."""
    new: bool = False
    session: str | None = None


@value
class Choice:
    """The session in which the question is asked."""

    session: Session
    note: str | None = None
    """What the user should know of how it was chosen."""
    unfinished: str | None = None
    """The turn that is taken up again; a question is added to it."""
    question: Message | None = None
    """What is asked again, instead of a new question."""


def choose(store: Store, wish: Wish, directory: str, asks: bool = True) -> Choice:
    """The session that is meant. `asks` says whether there is a question; without one, an old one is asked again.

    Raises `NotFound` (`No conversation to continue`, `Conversation not found`), and `Invalid` for flags that disagree.
    """
    check(wish)
    if wish.resume is not None:
        return resumed(store, wish.resume, directory, asks)
    if wish.after is not None:
        return after(store, node_called(store, wish.after), directory, asks, wish.session)
    if wish.session is not None:
        return named(store, wish, directory)
    if wish.last:
        return Choice(store.session(last_here(store, directory).key))
    found = None if wish.new else find_last(store, directory, empty=True)
    return Choice(store.session(found.key) if found else begun(store, directory))


def remembered(store: Store, wish: Wish, directory: str, asks: bool = True) -> SessionInfo | None:
    """The session that `choose` will continue or fork, as it is now: nothing is made yet. Raises what it raises."""
    check(wish)
    name = wish.after if wish.resume is None else wish.resume
    if name is not None:
        return _remembered_at(store, name, wish, directory, asks)
    if wish.session is not None:
        return store.find_session(session_key(wish.session))
    if wish.last:
        return last_here(store, directory)
    return None if wish.new else find_last(store, directory, empty=True)


def _remembered_at(store: Store, name: str, wish: Wish, directory: str, asks: bool) -> SessionInfo | None:
    id = store.find_id(name)
    turn = find_turn(store, store.get_messages([id])[0]) if id else None
    origin = store.find_session(turn.session) if turn and turn.session else None
    if turn and is_unfinished(turn) and (wish.resume is not None or not asks):
        return origin
    if wish.resume is not None:
        return find_named(store, name) or origin
    here = find_standing(store, node_called(store, name).id, directory) if wish.session is None else None
    return here or origin


def check(wish: Wish) -> None:
    """Raises `Invalid` when two flags say different things."""
    flags = {"-n": wish.new, "-c": wish.last or wish.after is not None, "--resume": wish.resume is not None}
    said = [flag for flag, given in flags.items() if given]
    if len(said) > 1:
        raise Invalid(f"{' and '.join(said)} say different things; use one of them.")
    if wish.session is not None and not wish.session.strip():
        raise Invalid("--session needs a name.")
    if wish.resume is not None and wish.session is not None:
        raise Invalid("--resume and --session both name a conversation; use one of them.")


def read_continue(store: Store, said: str, words: list[str]) -> tuple[str | None, list[str]]:
    """What follows `-c`: the id, if one has that id, and the words of the prompt.

    Raises `NotFound` for what can only be meant as an id, and `Refused` for a word that happens to begin one.
    """
    if not said or not re.fullmatch(f"[{ALPHABET}]+", said):
        return None, [said, *words] if said else words
    found = store.find_id(said) if len(said) >= SHORTEST_PREFIX else None
    looks_like_an_id = any(sign.isdigit() for sign in said) and not said.isdigit()
    if found is None:
        if looks_like_an_id and len(said) == LENGTH:
            raise NotFound(f"Conversation not found: no message is called {said!r}. {_quote(said, words)}")
        return None, [said, *words]
    if len(said) == SHORTEST_PREFIX and not looks_like_an_id:  # a longer word begins an id once in 60 million
        raise Refused(f"{said!r} is the beginning of the id {found!r}: which is meant? {_quote(said, words)}")
    return found, words


def _quote(said: str, words: list[str]) -> str:
    prompt = " ".join([said, *words])
    return f"If it is a word of the prompt, quote all of it: -c {prompt!r}"


def dialog_of(store: Store, wish: Wish, directory: str) -> list[Node]:
    """The dialog that is meant, only to be read: nothing is made and nothing is forked. Raises `NotFound`."""
    check(wish)
    if wish.after is not None:
        return store.path(node_called(store, wish.after).id)
    if wish.last:
        return store.session(last_here(store, directory).key).path()
    name = wish.resume if wish.resume is not None else session_key(wish.session or "")
    if (info := find_named(store, name)) is not None:
        return store.session(info.key).path()
    return store.path(node_called(store, name).id) if wish.resume is not None else []


# Here -----------------------------------------------------------------------------------------------------------------


def find_last(store: Store, directory: str, *, empty: bool = False) -> SessionInfo | None:
    """The conversation last held in this directory, if there is one that can be continued."""
    before: int | None = None
    while page := store.sessions(channel=CHANNEL, directory=directory, delegates=False, limit=20, before=before):
        for info in page:
            if (empty and info.head_id is None) or is_continuable(store, info):
                return info
        before = page[-1].cursor
    return None


def last_here(store: Store, directory: str) -> SessionInfo:
    """The same, or `NotFound`, which names the last conversation elsewhere."""
    found = find_last(store, directory)
    if found is not None:
        return found
    elsewhere = next((i for i in store.sessions(delegates=False, limit=20) if is_continuable(store, i)), None)
    hint = f" The last one elsewhere: --resume {elsewhere.key}" if elsewhere else " Ask something: bough run PROMPT"
    raise NotFound(f"No conversation to continue in this directory.{hint}")


def is_continuable(store: Store, info: SessionInfo) -> bool:
    """Whether it stands at a reply of its own: not at unanswered words, not at the trace of a subagent."""
    if info.head_id is None:
        return False
    (head,) = store.get_messages([info.head_id])
    return is_answered(head) and not (head.label or "").startswith(SUBAGENT)


def is_answered(node: Node) -> bool:
    return node.kind == "summary" or node.role in ("assistant", "tool_result")


def begun(store: Store, directory: str) -> Session:
    """A new conversation of this directory; one that was begun, and in which nothing was ever asked, will do."""
    newest = next(iter(store.sessions(channel=CHANNEL, directory=directory, delegates=False, limit=1)), None)
    if newest and newest.head_id is None and not store.turns(newest.key, limit=1):
        return store.session(newest.key)
    return store.session(free_key(store, directory), directory=directory)


def free_key(store: Store, directory: str) -> str:
    """A key that nobody has: the name of the directory, with something after it if it must be."""
    name = re.sub(r"[^\w.-]+", "-", directory.rstrip("/\\").replace("\\", "/").rpartition("/")[2])[:80].strip("-")
    key = cli_key(name or "default")
    while store.find_session(key) is not None:
        key = cli_key(f"{name or 'default'}-{mint(4)}")
    return key


# By name --------------------------------------------------------------------------------------------------------------


def session_key(name: str) -> str:
    """`work` is `cli:work`; a name with a colon is a whole key."""
    return name if ":" in name else cli_key(name)


def named(store: Store, wish: Wish, directory: str) -> Choice:
    """`--session NAME`, found or made; continued, or begun afresh."""
    key = session_key(wish.session or "")
    info = store.find_session(key)
    if wish.last and (info is None or info.head_id is None):
        raise NotFound(f"No conversation to continue: session {key!r} is empty.")
    session = at_home(store, info, directory) if info else store.session(key, directory=directory)
    kept = session.new() if wish.new else None
    return Choice(session, f"What was there is now {kept.key}" if kept else None)


def at_home(store: Store, info: SessionInfo, directory: str) -> Session:
    """The session; one of the command line that has no directory yet, as a fork has none, gets this one."""
    homeless = info.directory is None and info.channel == CHANNEL
    return store.session(info.key, directory=directory if homeless else None)


def node_called(store: Store, id: str) -> Node:
    found = store.find_id(id)
    if found is None:
        raise NotFound(f"Conversation not found: {id!r} is no message. `bough conversations` lists them.")
    return store.get_messages([found])[0]


def resumed(store: Store, name: str, directory: str, asks: bool) -> Choice:
    """The conversation with this name: a session's key, or any message of it."""
    id = store.find_id(name)
    if id is not None and (unfinished := taken_up(store, store.get_messages([id])[0], directory, asks)):
        return unfinished
    if (info := find_named(store, name)) is not None:
        return Choice(store.session(info.key))
    return after(store, node_called(store, name), directory, asks)


def find_named(store: Store, name: str) -> SessionInfo | None:
    """The session with this key or name, or the one to which a message of this name belongs."""
    if (named := find_session(store, name)) is not None:
        return named
    id = store.find_id(name)
    if id is None:
        return None
    through = [info for info in store.sessions_through(id) if info.parent_key is None and info.channel != "subagent"]
    turn = find_turn(store, store.get_messages([id])[0])
    own = [info for info in through if turn and info.key == turn.session]
    return next(iter(own or through), None)


def after(store: Store, node: Node, directory: str, asks: bool, name: str | None = None) -> Choice:
    """From this very message: in the session of this directory that stands there, or in a fork."""
    if not asks and (unfinished := taken_up(store, node, directory, asks)):
        return unfinished
    turn = find_turn(store, node)
    if name is None and (standing := find_standing(store, node.id, directory)):
        return Choice(at_home(store, standing, directory))
    if not asks and node.role == "user" and node.kind == "message":
        return again(store, node, turn, directory)
    if not asks:
        raise Invalid("There is nothing to ask: write what you want to know.")
    session = forked(store, node.id, turn, directory, name)
    return Choice(session, f"Forked at {node.id} as {session.key}")


def find_standing(store: Store, id: str, directory: str) -> SessionInfo | None:
    """A session of this directory that stands at a message. Others, of bots and subagents too, are left alone."""
    for info in store.sessions_through(id):
        here = info.channel == CHANNEL and info.parent_key is None and info.directory in (None, directory)
        if here and info.head_id == id:
            return info
    return None


def taken_up(store: Store, node: Node, directory: str, asks: bool) -> Choice | None:
    """The turn of this message once more, if it did not complete; beside its session, if that has moved on."""
    turn = find_turn(store, node)
    if turn is None or not is_unfinished(turn):
        return None
    info = store.find_session(turn.session) if turn.session else None
    if info and info.head_id == turn.parent_id:
        return Choice(store.session(info.key), f"Taking up {turn.id} again", unfinished=turn.id)
    if not asks:
        return again(store, store.get_messages([turn.id])[0], turn, directory)
    session = forked(store, turn.last_id, turn, directory, None)
    return Choice(session, f"Taking up {turn.id} again as {session.key}")


def is_unfinished(turn: TurnInfo) -> bool:
    return turn.status in ("interrupted", "failed")


def again(store: Store, node: Node, turn: TurnInfo | None, directory: str) -> Choice:
    """The same question once more, beside the first one."""
    session = forked(store, node.parent_id, turn, directory, None) if node.parent_id else begun(store, directory)
    return Choice(session, f"Asking {node.id} again in {session.key}", question=node.message)


def forked(store: Store, at: str, turn: TurnInfo | None, directory: str, name: str | None) -> Session:
    key = free_key(store, directory) if name is None else session_key(name)
    origin = turn.session if turn and turn.session and store.find_session(turn.session) else None
    session = store.session(origin).fork(at, key) if origin else store.fork(at, key)
    session.update(directory=directory)
    return session


def find_turn(store: Store, node: Node) -> TurnInfo | None:
    return None if node.turn_id is None else store.turn_info(node.turn_id)
