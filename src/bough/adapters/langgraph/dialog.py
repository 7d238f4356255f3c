"""Lists of messages in the state of a graph, as paths of the tree: a list is the node that it ends at.

A list that only grew is its new messages; one that differs becomes a branch where it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bough.adapters.langgraph.messages import Serialised, copy_of, foreign, is_same, restored
from bough.adapters.paths import Path, Paths
from bough.errors import NotFound
from bough.model import Node
from bough.model.values import value
from bough.session import Session
from bough.store import Store


@value
class PathStep:
    """A message of a path: a copy that nobody else changes, and the form in which it is stored."""

    message: Any
    form: Any


@value
class Growth:
    """How a list of messages continues what is stored."""

    common: Path[PathStep]
    """What the list has in common with what is stored."""
    new: tuple[Serialised, ...]

    @property
    def parent(self) -> str | None:
        """The last node that they have in common."""
        return self.common.ids[-1] if self.common.ids else None


class Dialogs:
    """The paths of a store as lists of messages of LangChain."""

    def __init__(self, store: Store, serde: Any) -> None:
        self._store = store
        self.serde = serde
        self._paths: Paths[PathStep] = Paths(self._read)

    def growth(self, tips: Sequence[str | None], messages: Sequence[Any]) -> Growth:
        """How a list continues one of the paths that end at these nodes, some of which may be gone: the most alike."""
        growths = [self._grown(self._path(tip), messages) for tip in dict.fromkeys(tips)]
        return max(growths, key=lambda growth: len(growth.common.ids))

    def remember(self, growth: Growth, ids: Sequence[str]) -> None:
        """Remembers the whole path, once the new messages have ids."""
        added = [PathStep(copy_of(one.message), one.form) for one in growth.new]
        self._paths.remember(growth.common.grown(ids, added), growth.common)

    def messages(self, tip: str) -> list[Any]:
        """The messages of the path that ends at a node. Raises `NotFound` if they were deleted."""
        return [copy_of(kept.message) for kept in self._paths.at(self._store, tip).values]

    def _path(self, tip: str | None) -> Path[PathStep]:
        try:
            return self._paths.at(self._store, tip) if tip else Path()
        except NotFound:
            return Path()

    def _grown(self, before: Path[PathStep], messages: Sequence[Any]) -> Growth:
        common = list(before.values[: len(messages)])
        for at, (kept, message) in enumerate(zip(common, messages, strict=False)):
            if not is_same(message, kept.message):
                if Serialised(self.serde, message).form != kept.form:
                    del common[at:]
                    break
                common[at] = PathStep(copy_of(message), kept.form)  # the next comparison is short
        new = tuple(Serialised(self.serde, message) for message in messages[len(common) :])
        return Growth(Path(before.ids[: len(common)], tuple(common)), new)

    def _read(self, node: Node) -> PathStep:
        try:
            return PathStep(*restored(self.serde, node.message))
        except (KeyError, TypeError):
            message = foreign(node.message).model_copy(update={"id": node.id})
            return PathStep(message, Serialised(self.serde, message).form)


def can_be_a_path(value: Any) -> bool:
    """Whether the value of a channel is a list of messages."""
    from langchain_core.messages import BaseMessage

    return type(value) is list and bool(value) and all(isinstance(item, BaseMessage) for item in value)


def holder(session: Session, channel: str) -> Session:
    """The session for a list of messages: that of the namespace for `messages`, else one that works for it."""
    return session if channel == "messages" else session.delegate(f"channel-{channel}")
