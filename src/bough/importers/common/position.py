"""Positions in the tree that an importer builds, for files whose lines do not say what they follow."""

from __future__ import annotations

from typing import NamedTuple

from bough.model import Role


class Position(NamedTuple):
    """What the children of an imported message need of it."""

    message_id: str
    turn: str
    role: Role


class Spawn(NamedTuple):
    """The tool call that started a subagent."""

    message_id: str
    call_id: str
