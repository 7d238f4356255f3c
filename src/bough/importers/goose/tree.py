"""Build the path of a goose session; some messages are visible to the model only, some to the user only."""

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


class StoredMessage(NamedTuple):
    """One message, from the database or a file."""

    id: str | None
    role: Json
    content: Json
    created: Json
    metadata: Json


class RequestUsage(NamedTuple):
    """Usage of one request, and its time."""

    at: int
    model: str | None
    usage: Usage


def usage_by_reply(replies: Sequence[int], ledger: Iterable[RequestUsage]) -> dict[int, RequestUsage]:
    """Usage by the number of the reply: goose records a request after its reply has begun."""
    found: dict[int, RequestUsage] = {}
    for one in ledger:
        position = max(bisect_right(replies, one.at) - 1, 0)
        before = found.get(position)
        found[position] = one._replace(usage=before.usage + one.usage) if before else one
    return found


class SessionReader:
    """Reads the messages of one session in order."""

    def __init__(self, session: str, model: str | None, provider: str | None, usages: dict[int, RequestUsage]) -> None:
        self._session = session
        self._model = model
        self._provider = provider
        self._usages = usages
        self._last: str | None = None
        self._chain = session
        self._replies = 0
        self._hidden = False
        """Whether the messages so far are hidden from the model."""

    def items(self, messages: Iterable[StoredMessage]) -> Iterator[ImportedMessage]:
        for stored in messages:
            rest = stored.metadata if isinstance(stored.metadata, dict) else None
            name, summary = self._name(stored), self._is_summary(rest)
            for position, message in enumerate(read_messages(stored.role, stored.content, rest)):
                message_id = f"{name}#{position}" if position else name
                kind: Kind = "summary" if summary and self._last and position == 0 else "message"
                reply = self._reply() if message.role == "assistant" else None
                yield ImportedMessage(
                    message_id,
                    message,
                    self._last,
                    from_seconds(stored.created),
                    kind=kind,
                    covers=self._last if kind == "summary" else None,
                    model=(reply.model or self._model) if reply else None,
                    provider=self._provider if reply else None,
                    usage=reply.usage if reply and reply.usage != Usage() else None,
                )
                self._last = message_id

    def _name(self, stored: StoredMessage) -> str:
        """Its id. Older versions have none, so it is derived from the content and all before it."""
        self._chain = next(chained([[stored.role, stored.content]], self._chain))
        return f"{self._session}:{stored.id or self._chain}"

    def _is_summary(self, metadata: Json) -> bool:
        """Whether this summarises the hidden messages: it is visible to the model only."""
        for_model, for_user = at(metadata, "agentVisible") is not False, at(metadata, "userVisible") is not False
        summary = self._hidden and for_model and not for_user
        self._hidden = not summary and (self._hidden or not for_model)
        return summary

    def _reply(self) -> RequestUsage:
        found = self._usages.get(self._replies, RequestUsage(0, None, Usage()))
        self._replies += 1
        return found
