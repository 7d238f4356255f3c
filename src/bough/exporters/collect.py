"""From the store to what exporters are given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bough.errors import NotFound
from bough.exporters.types import Exported
from bough.model import Node, SessionInfo

if TYPE_CHECKING:
    from bough.store import Store

WORDS = 60
"""As many characters of the first message make a title, where there is none."""


def gather(store: Store, name: str, *, branches: bool = True) -> Exported:
    """A conversation by a session's key, or by the id of a message: the whole tree, or the one dialog that ends there.

    Raises `NotFound`, also for a session in which nothing was said yet, and `Ambiguous`.
    """
    session = store.find_session(name)
    if session is not None and session.head_id is None:
        raise NotFound(f"Nothing was said in session {name!r} yet; there is nothing to export.")
    path = store.path(name if session is None else session.head_id or "")
    nodes = [tree.node for _, tree in store.forest(path[0].id)[0].walk()] if branches else path
    ids = {node.id for node in nodes}
    standing = tuple(info for info in store.sessions_through(path[0].id) if info.head_id in ids)
    turns = {turn.id: turn for turn in store.list_turns([node.id for node in nodes])}
    named = session or next((info for info in standing if info.head_id == path[-1].id), None)
    return Exported(title_of(named, path), nodes, path[-1].id, turns, standing)


def conversations(store: Store) -> Iterator[str]:
    """Where every conversation stands, each tree once: the head of the session used last in it, or its newest message.

    The most recently active one comes last.
    """
    used = {info.head_id: place for place, info in enumerate(store.sessions())}
    for tree in store.outline():
        heads = [below.node.id for _, below in tree.walk() if below.node.id in used]
        yield min(heads, key=used.__getitem__, default=tree.newest.id)


def title_of(session: SessionInfo | None, path: list[Node]) -> str:
    """The session's title, or the first words that were said."""
    if session is not None and session.title:
        return session.title
    first = next((node.message.text for node in path if node.role == "user" and node.message.text.strip()), "")
    words = " ".join(first.split())
    return (words[:WORDS].rstrip() + "…" if len(words) > WORDS else words) or "A conversation"
