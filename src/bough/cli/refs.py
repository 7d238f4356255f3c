"""Resolve the messages and sessions that users name: ids, unique prefixes of ids, and session names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.model.keys import cli_key

if TYPE_CHECKING:
    from bough.model import SessionInfo
    from bough.store import Store


def find_session(store: Store, name: str) -> SessionInfo | None:
    """The session with this key; `work` may stand for `cli:work`."""
    return store.find_session(name) or (None if ":" in name else store.find_session(cli_key(name)))


def session_key(store: Store, name: str | None) -> str | None:
    """The key of the session with this name; None for no name. Raises `NotFound`."""
    if name is None:
        return None
    session = find_session(store, name)
    if session is None:
        raise NotFound(f"Conversation not found: no session is called {name!r}. `bough sessions` lists them.")
    return session.key


def message_id(store: Store, name: str) -> str:
    """The full id of a message, or of a session's head. Raises `NotFound` and `Ambiguous`."""
    session = find_session(store, name)
    if session is not None:
        if session.head_id is None:
            raise NotFound(f"Session {session.key!r} is empty.")
        return session.head_id
    found = store.find_id(name)
    if found is None:
        raise NotFound(f"Conversation not found: no message and no session is called {name!r}.")
    return found
