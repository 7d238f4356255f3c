"""Do what was chosen in the browser: open a chat there, fork, edit, answer again, or open the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.ask.choose import Choice, Target, carry_out, free_key, plan_conversation
from bough.cli.browser.picked import Picked

if TYPE_CHECKING:
    from bough.session import Session
    from bough.store import Store


def session_for(store: Store, picked: Picked, directory: str) -> Choice:
    """The session in which a chat does what was picked. Raises what `plan_conversation` and `Store.fork` raise."""
    if picked.verb == "new":
        target = Target(new=True)
    elif picked.verb == "fork" and picked.id is not None:
        return Choice(fork_at(store, picked, directory), f"Forked at {picked.id}")
    elif picked.verb == "continue" and picked.id is not None and not is_head(store, picked):
        target = Target(after=picked.id)
    elif picked.session is not None and (picked.verb != "edit" or is_through(store, picked)):
        target = Target(resume=picked.session)
    else:
        target = Target(resume=picked.id)
    return carry_out(store, plan_conversation(store, target, directory))


def fork_at(store: Store, picked: Picked, directory: str) -> Session:
    """A new session of this directory at the message."""
    assert picked.id is not None
    key = free_key(store, directory)
    if picked.session is not None and is_through(store, picked):
        forked = store.session(picked.session).fork(picked.id, key)
    else:
        forked = store.fork(picked.id, key)
    forked.update(directory=directory)
    return forked


def is_head(store: Store, picked: Picked) -> bool:
    """Whether the message is where the conversation stands, which is then continued instead of forked."""
    info = store.find_session(picked.session) if picked.session else None
    return info is not None and info.head_id == picked.id


def is_through(store: Store, picked: Picked) -> bool:
    """Whether the message is on the path of the conversation."""
    assert picked.id is not None
    return any(info.key == picked.session for info in store.sessions_through(picked.id))
