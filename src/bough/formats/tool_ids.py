"""Tool call ids that the target provider accepts, the same for a call and its result."""

from __future__ import annotations

import re
from hashlib import blake2b

_DERIVED = re.compile(r"_x[0-9a-f]{16}\Z")


def fit(text: str, allowed: str, limit: int) -> str:
    """The text if the target accepts it, else a name derived from it by a hash.

    A text that already looks derived is derived again, so that two different texts never collide.
    """
    if 0 < len(text) <= limit and not re.search(f"[^{allowed}]", text) and not _DERIVED.search(text):
        return text
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    readable = re.sub(f"[^{allowed}]", "_", text)[: limit - len(digest) - 2]
    return f"{readable}_x{digest}"


class ToolIds:
    """The ids of one request. An id depends only on earlier calls, so that prompt prefixes stay the same."""

    def __init__(self, allowed: str = "", limit: int = 0) -> None:
        self._allowed, self._limit = allowed, limit
        self._current: dict[str, str] = {}
        self._taken: set[str] = set()

    def keep(self, call_id: str) -> str:
        """Register a call that is sent verbatim, with its own id."""
        self._taken.add(call_id)
        self._current[call_id] = call_id
        return call_id

    def call(self, call_id: str) -> str:
        """The id for a call; unique, because some providers number calls per reply and others refuse repeated ids."""
        fitted = self._fit(call_id)
        if fitted in self._taken:
            fitted = self._fit(f"{call_id} {len(self._taken)}") if self._limit else fitted
        self._taken.add(fitted)
        self._current[call_id] = fitted
        return fitted

    def result(self, call_id: str) -> str:
        """The id for a result: that of the newest call with this id."""
        return self._current.get(call_id) or self._fit(call_id)

    def _fit(self, text: str) -> str:
        return fit(text, self._allowed, self._limit) if self._limit else text
