"""Keeps connections from being inherited through a process fork.

SQLite counts its locks per process and file. A child inherits the counts without the locks: a connection that it opens
would believe that it holds the locks of its parent, and when the parent exits others delete the WAL that it reads. So
connections are closed before a process fork, and parent and child reopen theirs when they need them.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class ForkAware(Protocol):
    """An object with a connection that must not be inherited."""

    def before_process_fork(self) -> None: ...

    def after_process_fork(self, child: bool) -> None: ...


_registered: WeakSet[ForkAware] = WeakSet()
_notified: list[ForkAware] = []


def register(connected: ForkAware) -> None:
    """Calls its methods around every process fork, for as long as the object lives."""
    _registered.add(connected)


def _before() -> None:
    for connected in list(_registered):
        connected.before_process_fork()
        _notified.append(connected)


def _after(child: bool) -> None:
    while _notified:
        _notified.pop().after_process_fork(child)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
