"""What an adapter made of the nodes of paths, remembered for those that were used last: a path never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from copy import deepcopy
from threading import Lock
from typing import Any, Generic, NamedTuple, TypeVar

from bough.model import Node
from bough.store import Store

T = TypeVar("T")

MOST = 10_000
"""Messages that are remembered, besides those of the path that was used last."""
RECENT = 32
"""Messages that are read of a path that has perhaps only grown."""
ATOMS = frozenset({str, int, float, bool, bytes, type(None)})


class Path(NamedTuple, Generic[T]):
    """The ids of the nodes of a path, and what was made of each."""

    ids: tuple[str, ...] = ()
    values: tuple[T, ...] = ()

    def grown(self, ids: Sequence[str], values: Sequence[T]) -> Path[T]:
        return Path((*self.ids, *ids), (*self.values, *values))

    def up_to(self, id: str) -> Path[T]:
        """The path that ends at one of its nodes."""
        end = self.ids.index(id) + 1
        return self if end == len(self.ids) else Path(self.ids[:end], self.values[:end])


class Paths(Generic[T]):
    """The paths of one store. `read` makes a value of a node.

    A path that has grown is read where it is new. Each use asks the store whether the end of the path is still there:
    then all of it is, because nothing is deleted without what follows it, and ids are not used again.
    """

    def __init__(self, read: Callable[[Node], T]) -> None:
        self._read = read
        self._known: OrderedDict[str, Path[T]] = OrderedDict()
        self._lock = Lock()

    def at(self, store: Store, tip: str) -> Path[T]:
        """The path that ends at a node. Raises `NotFound` if that was deleted, and `Corrupt`."""
        if (known := self._find(tip)) is not None:
            store.get_messages([tip])
            return known
        nodes = store.path(tip, RECENT)
        before = Path[T]()
        if nodes[0].parent_id is not None:
            found = self._find(nodes[0].parent_id)
            before, nodes = (found, nodes) if found is not None else (before, store.path(tip))
        return self.remember(before.grown([node.id for node in nodes], [self._read(node) for node in nodes]), before)

    def end(self, store: Store, tip: str, last: int | None) -> Sequence[T]:
        """The values of a path, or of the last nodes of it. Raises what `at` raises."""
        if last is None:
            return self.at(store, tip).values
        if (known := self._find(tip)) is None:
            return [self._read(node) for node in store.path(tip, last)]
        store.get_messages([tip])
        return known.values[max(len(known.values) - last, 0) :]

    def remember(self, path: Path[T], before: Path[T] | None = None) -> Path[T]:
        """Remembers a path, in the place of the one that it has grown from."""
        with self._lock:
            if before is not None and before.ids:
                self._known.pop(before.ids[-1], None)
            self._known[path.ids[-1]] = path
            self._known.move_to_end(path.ids[-1])
            held = sum(len(known.ids) for known in self._known.values())
            while held > MOST and len(self._known) > 1:
                held -= len(self._known.popitem(last=False)[1].ids)
        return path

    def _find(self, id: str) -> Path[T] | None:
        with self._lock:
            if (known := self._known.get(id)) is not None:
                self._known.move_to_end(id)
                return known
            return next((path.up_to(id) for path in self._known.values() if id in path.ids), None)


def copied(given: Any) -> Any:
    """A copy of JSON, which the caller may change; faster than `deepcopy`, which copies everything else in it."""
    kind = type(given)
    if kind in ATOMS:
        return given
    if kind is dict:
        return {key: item if type(item) in ATOMS else copied(item) for key, item in given.items()}
    if kind is list:
        return [item if type(item) in ATOMS else copied(item) for item in given]
    return deepcopy(given)
