"""Threads and their namespaces: each is a session, those of subgraphs are delegates of the thread's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bough.adapters.common import key_of
from bough.model import SessionInfo
from bough.model.keys import DELEGATE, LONGEST_KEY
from bough.session import Session
from bough.store import Store

MARK = "langgraph"
"""In the `extra` of a session: the thread and the namespace that it keeps."""


class Threads:
    """The sessions of a store in which there are checkpoints."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def key(self, thread_id: str, namespace: str) -> str:
        key = key_of(thread_id)
        if not namespace:
            return key
        whole = f"{key}{DELEGATE}{namespace}"
        return (
            whole
            if len(whole) <= LONGEST_KEY and key_of(whole) == whole
            else f"{key}{DELEGATE}{key_of(namespace * 99)}"
        )

    def find(self, thread_id: str, namespace: str) -> Session | None:
        key = self.key(thread_id, namespace)
        return None if self.store.find_session(key) is None else self.store.session(key)

    def make(self, thread_id: str, namespace: str) -> Session:
        """The session, found or made. That of a thread is made before those of its subgraphs."""
        key = self.key(thread_id, namespace)
        info = self.store.find_session(key)
        if info is not None and self.marked(info):
            return self.store.session(key)
        if namespace:
            self.make(thread_id, "")
        mark = {MARK: {"thread_id": thread_id, "checkpoint_ns": namespace}}
        before = info.extra if info is not None and isinstance(info.extra, dict) else {}
        return self.store.session(key, extra={**before, **mark})

    def of(self, thread_id: str) -> list[tuple[str, Session]]:
        """The namespaces of a thread with their sessions."""
        key = self.key(thread_id, "")
        root = self.store.find_session(key)
        if root is None:
            return []
        found = [("", self.store.session(key))]
        for info in self.store.sessions(parent=key):
            if mark := self.marked(info):
                found.append((mark["checkpoint_ns"], self.store.session(info.key)))
        return found

    def every(self) -> Iterator[tuple[str, str, Session]]:
        """All threads: id, namespace and session."""
        for info in self.store.sessions():
            if mark := self.marked(info):
                yield mark["thread_id"], mark["checkpoint_ns"], self.store.session(info.key)

    def marked(self, info: SessionInfo) -> Any:
        """The mark of a session; None if it has none, or, as a fork has, that of another session."""
        mark = info.extra.get(MARK) if isinstance(info.extra, dict) else None
        return mark if mark and self.key(mark["thread_id"], mark["checkpoint_ns"]) == info.key else None
