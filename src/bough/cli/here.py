"""The conversations of the working directory: the one that it continues, and all of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bough.cli.ask.choose import find_last, last_here
from bough.cli.locate import working_directory
from bough.errors import BoughError

if TYPE_CHECKING:
    from bough.model import SessionInfo
    from bough.store import Store


def head_here(store: Store) -> str | None:
    """The message from which the next question here goes on; None where nothing is continued."""
    try:
        found = find_last(store, working_directory())
    except BoughError:  # a list is shown without its mark in a directory that was deleted
        return None
    return found.head_id if found else None


def continued_here(store: Store) -> str:
    """The head of the conversation that this directory continues. Raises `NotFound`."""
    head = last_here(store, working_directory()).head_id
    assert head is not None
    return head


def sessions_here(store: Store, limit: int | None, *, delegates: bool = False) -> list[SessionInfo]:
    """The sessions of this directory, and the one that it last talked to, the most recently used first."""
    directory = working_directory()
    own = store.sessions(directory=directory, delegates=delegates, limit=limit)
    last = store.last_session(directory)
    if last is not None and last.key not in {info.key for info in own}:
        own.append(last)
    return sorted(own, key=lambda info: info.updated_at, reverse=True)[:limit]
