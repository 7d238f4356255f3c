"""Keeps connections from crossing a fork.

SQLite counts its locks per process and file. A child inherits the counts without the locks: a connection that it opens
itself would still believe that it holds what its parent held, and when the parent goes others delete the WAL under
it. So before a process forks its connections are closed, and parent and child open theirs anew when they need them.
"""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Connected(Protocol):
    """Whatever has a connection that must not be inherited."""

    def before_fork(self) -> None: ...

    def after_fork(self, child: bool) -> None: ...


_watched: WeakSet[Connected] = WeakSet()
_crossing: list[Connected] = []


def watch(connected: Connected) -> None:
    """Tells it of every fork of this process, for as long as it lives."""
    _watched.add(connected)


def _before() -> None:
    for connected in list(_watched):
        connected.before_fork()
        _crossing.append(connected)


def _after(child: bool) -> None:
    while _crossing:
        _crossing.pop().after_fork(child)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=lambda: _after(child=False), after_in_child=lambda: _after(child=True)
    )
