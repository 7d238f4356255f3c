"""Collect conversations from the store for the exporters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters.types import ExportedConversation
from bough.model import Node, SessionInfo

if TYPE_CHECKING:
    from bough.store import Store

TITLE_LENGTH = 60
"""The maximum length of a title made from the first message."""


def collect(store: Store, name: str, *, branches: bool = True) -> ExportedConversation:
    """The conversation of a session key or a message id: the whole tree, or the dialog up to the message.

    Raises `NotFound`, also for an empty session, and `Ambiguous`.
    """
    session = store.find_session(name)
    if session is not None and session.head_id is None:
        raise NotFound(f"Session {name!r} is empty; there is nothing to export.")
    path = store.path(name if session is None else session.head_id or "")
    nodes = [tree.node for _, tree in store.forest(path[0].id)[0].walk()] if branches else path
    ids = {node.id for node in nodes}
    sessions = tuple(info for info in store.sessions_through(path[0].id) if info.head_id in ids)
    turns = {turn.id: turn for turn in store.list_turns([node.id for node in nodes])}
    own = session or next((info for info in sessions if info.head_id == path[-1].id), None)
    return ExportedConversation(title_of(own, path), nodes, path[-1].id, turns, sessions)


def conversation_heads(store: Store) -> Iterator[str]:
    """One message id for each tree: the head of the session used last in it, or the newest message.

    The most recently active conversation comes last.
    """
    ranks = {info.head_id: rank for rank, info in enumerate(store.sessions())}
    for tree in store.outline():
        heads = [below.node.id for _, below in tree.walk() if below.node.id in ranks]
        yield min(heads, key=ranks.__getitem__, default=tree.newest.id)


def title_of(session: SessionInfo | None, path: list[Node]) -> str:
    """The title of the session, or the first words of the user."""
    if session is not None and session.title:
        return session.title
    first = next((node.message.text for node in path if node.role == "user" and node.message.text.strip()), "")
    words = " ".join(first.split())
    return (words[:TITLE_LENGTH].rstrip() + "…" if len(words) > TITLE_LENGTH else words) or "A conversation"
