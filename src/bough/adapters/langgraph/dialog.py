"""Lists of messages in the state of a graph, as paths of the tree: a list is the node that it ends at.

A list that only grew is its new messages; one that differs becomes a branch where it does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from bough.adapters.langgraph.messages import Serialised, foreign, restored
from bough.errors import NotFound
from bough.model import Node
from bough.model.values import value
from bough.session import Session
from bough.store import Store

REMEMBERED = 8
"""Paths in memory: the last one of each of a few threads."""


@value
class PathStep:
    """A node and the fingerprint of its message."""

    id: str
    fingerprint: bytes
    state: Any = None
    """A copy of the message's fields, once it was compared: an equal message has the same serialised form."""


@value
class Growth:
    """How a list of messages continues what is stored."""

    parent: str | None
    """The last node that the list has in common with what is stored."""
    common: tuple[PathStep, ...]
    new: tuple[Serialised, ...]

    def places(self, ids: Sequence[str]) -> tuple[PathStep, ...]:
        """The whole path, once the new messages have ids."""
        added = (PathStep(id, one.fingerprint, state_of(one.message)) for id, one in zip(ids, self.new, strict=True))
        return (*self.common, *added)


class Dialogs:
    """The paths of a store as lists of messages of LangChain."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: OrderedDict[str, tuple[PathStep, ...]] = OrderedDict()

    def growth(self, serde: Any, tips: Sequence[str | None], messages: Sequence[Any]) -> Growth:
        """How a list continues one of the paths that end at these nodes, some of which may be gone: the most alike."""
        growths = [grown(serde, self.places(serde, tip), messages) for tip in dict.fromkeys(tips)]
        return max(growths, key=lambda growth: len(growth.common))

    def places(self, serde: Any, tip: str | None) -> tuple[PathStep, ...]:
        if tip is None:
            return ()
        if tip in self._known:
            self._known.move_to_end(tip)
            return self._known[tip]
        try:
            path = self._store.path(tip)
        except NotFound:
            return ()
        return self.remember(tip, tuple(PathStep(node.id, read(serde, node)[1]) for node in path))

    def remember(self, tip: str, places: tuple[PathStep, ...]) -> tuple[PathStep, ...]:
        self._known[tip] = places
        while len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        return places

    def messages(self, serde: Any, tip: str) -> list[Any]:
        """The messages of the path that ends at a node. Raises `NotFound` if they were deleted."""
        path = self._store.path(tip)
        found = [read(serde, node) for node in path]
        if tip not in self._known:  # a path never changes, and one that was compared knows more
            steps = (PathStep(node.id, mark) for node, (_, mark) in zip(path, found, strict=True))
            self.remember(tip, tuple(steps))
        return [message for message, _ in found]


def grown(serde: Any, before: Sequence[PathStep], messages: Sequence[Any]) -> Growth:
    common: list[PathStep] = []
    for step, message in zip(before, messages, strict=False):
        if step.state is None or not is_state(message, step.state):
            if Serialised(serde, message).fingerprint != step.fingerprint:
                break
            step = PathStep(step.id, step.fingerprint, state_of(message))
        common.append(step)
    new = tuple(Serialised(serde, message) for message in messages[len(common) :])
    return Growth(common[-1].id if common else None, tuple(common), new)


def state_of(message: Any) -> Any:
    """A copy of what a message consists of; a graph may change the message itself later."""
    return deepcopy((type(message), message.__dict__, message.model_extra))


def is_state(message: Any, state: Any) -> bool:
    kind, fields, extra = state
    return type(message) is kind and message.__dict__ == fields and message.model_extra == extra


def read(serde: Any, node: Node) -> tuple[Any, bytes]:
    try:
        return restored(serde, node.message)
    except (KeyError, TypeError):
        message = foreign(node.message).model_copy(update={"id": node.id})
        return message, Serialised(serde, message).fingerprint


def can_be_a_path(value: Any) -> bool:
    """Whether the value of a channel is a list of messages."""
    from langchain_core.messages import BaseMessage

    return type(value) is list and bool(value) and all(isinstance(item, BaseMessage) for item in value)


def holder(session: Session, channel: str) -> Session:
    """The session for a list of messages: that of the namespace for `messages`, else one that works for it."""
    return session if channel == "messages" else session.delegate(f"channel-{channel}")
