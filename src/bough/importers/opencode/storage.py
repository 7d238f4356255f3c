"""opencode before its database: a JSON file per session, message and part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bough.errors import ImporterError
from bough.formats.payload import count, text_or_none
from bough.importers.common.files import Files
from bough.importers.common.json_reader import read_json
from bough.importers.common.order import eldest, latest_last
from bough.importers.common.position import Spawn
from bough.importers.opencode.messages import Record
from bough.importers.opencode.tree import MessageParts, conversation
from bough.model.imported import Conversation, Skipped

_SESSION = re.compile(r"(?:.*/)?session/(?!share/)[^/]+/(ses_[^/]+)\.json")
_MESSAGE = re.compile(r"(?:.*/)?message/(ses_[^/]+)/(msg_[^/]+)\.json")
_PART = re.compile(r"(?:.*/)?part/(?:ses_[^/]+/)?(msg_[^/]+)/(prt_[^/]+)\.json")


class Storage:
    """Groups the files of a session by their names, which differ slightly between versions."""

    def __init__(self, files: Files, seen: set[str], spawned: dict[str, Spawn]) -> None:
        self._files = files
        self._seen = seen
        self._spawned = spawned
        self._sessions = [name for name in files.names if _SESSION.fullmatch(name)]
        self._messages = _grouped(files, _MESSAGE)
        self._parts = _grouped(files, _PART)

    def conversations(self) -> Iterator[Conversation | Skipped]:
        read = [(name, self._read(name)) for name in self._sessions]
        yield from (info for _, info in read if isinstance(info, Skipped))
        infos = sorted((info for _, info in read if not isinstance(info, Skipped)), key=_order)
        families = eldest({str(info.get("id")): text_or_none(info.get("parentID")) for info in infos})
        for info in latest_last(infos, _last_used, lambda info: families[str(info.get("id"))]):
            session = str(info.get("id"))
            if session not in self._seen:
                self._seen.add(session)
                yield conversation(info, lambda session=session: self._stored_messages(session), self._spawned)  # type: ignore[misc]

    def _stored_messages(self, session: str) -> Iterator[MessageParts | Skipped]:
        messages = [self._read(name) for name in self._messages.get(session, ())]
        yield from (one for one in messages if isinstance(one, Skipped))
        infos = [one for one in messages if not isinstance(one, Skipped)]
        for info in sorted(infos, key=_order):
            parts = [self._read(name) for name in self._parts.get(str(info.get("id")), ())]
            yield from (one for one in parts if isinstance(one, Skipped))
            yield MessageParts(info, [one for one in parts if not isinstance(one, Skipped)])

    def _read(self, name: str) -> Record | Skipped:
        try:
            with self._files.open(name) as stream:
                record = read_json(stream, name)
        except ImporterError as error:
            return Skipped(name, str(error))
        return record if isinstance(record, dict) else Skipped(name, "It is not an object.", record)


def _order(info: Record) -> tuple[int, str]:
    return count(info, "time", "created") or 0, str(info.get("id"))


def _last_used(info: Record) -> int:
    return count(info, "time", "updated") or 0


def _grouped(files: Files, pattern: re.Pattern[str]) -> dict[str, list[str]]:
    """The files that match, by their owner, in the order of their names: ids ascend."""
    found: dict[str, list[str]] = {}
    for name in files.names:
        if match := pattern.fullmatch(name):
            found.setdefault(match[1], []).append(name)
    return found


def has_sessions(files: Files) -> bool:
    return any(_SESSION.fullmatch(name) for name in files.names) and any(map(_MESSAGE.fullmatch, files.names))
