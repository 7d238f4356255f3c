"""A session of goose: messages one after another, some of them only for the model, some only for the user."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bough.formats.payload import at
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_seconds
from bough.importers.goose.messages import read_messages
from bough.model import Json, Kind, Usage
from bough.model.imported import ImportedMessage


class Spoken(NamedTuple):
    """One message, wherever it was stored."""

    id: str | None
    role: Json
    content: Json
    created: Json
    metadata: Json


class Spent(NamedTuple):
    """What one request cost, and when."""

    at: int
    model: str | None
    usage: Usage


def spent_on(replies: Sequence[int], ledger: Iterable[Spent]) -> dict[int, Spent]:
    """What each reply cost, by its position: a request is noted after its reply began."""
    found: dict[int, Spent] = {}
    for one in ledger:
        position = max(bisect_right(replies, one.at) - 1, 0)
        before = found.get(position)
        found[position] = one._replace(usage=before.usage + one.usage) if before else one
    return found


class Telling:
    """Tells the messages of one session."""

    def __init__(self, session: str, model: str | None, provider: str | None, spent: dict[int, Spent]) -> None:
        self._session = session
        self._model = model
        self._provider = provider
        self._spent = spent
        self._last: str | None = None
        self._so_far = session
        self._replies = 0
        self._hidden = False
        """Whether the model is not told again what was said so far."""

    def items(self, messages: Iterable[Spoken]) -> Iterator[ImportedMessage]:
        for spoken in messages:
            rest = spoken.metadata if isinstance(spoken.metadata, dict) else None
            name, summary = self._name(spoken), self._is_summary(rest)
            for position, message in enumerate(read_messages(spoken.role, spoken.content, rest)):
                said = f"{name}#{position}" if position else name
                kind: Kind = "summary" if summary and self._last and position == 0 else "message"
                reply = self._reply() if message.role == "assistant" else None
                yield ImportedMessage(
                    said,
                    message,
                    self._last,
                    from_seconds(spoken.created),
                    kind=kind,
                    covers=self._last if kind == "summary" else None,
                    model=(reply.model or self._model) if reply else None,
                    provider=self._provider if reply else None,
                    usage=reply.usage if reply and reply.usage != Usage() else None,
                )
                self._last = said

    def _name(self, spoken: Spoken) -> str:
        """What goose calls it; older versions do not, and newer ones write all rows anew when they compact."""
        self._so_far = next(chained([[spoken.role, spoken.content]], self._so_far))
        return f"{self._session}:{spoken.id or self._so_far}"

    def _is_summary(self, metadata: Json) -> bool:
        """Whether this stands for what was hidden from the model: it sees it, and the user does not."""
        for_model, for_user = at(metadata, "agentVisible") is not False, at(metadata, "userVisible") is not False
        summary = self._hidden and for_model and not for_user
        self._hidden = not summary and (self._hidden or not for_model)
        return summary

    def _reply(self) -> Spent:
        found = self._spent.get(self._replies, Spent(0, None, Usage()))
        self._replies += 1
        return found
