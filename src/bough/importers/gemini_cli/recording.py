"""Replay the records of one session file: messages, later versions of them, rewinds and rewritten histories."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from bough.formats.payload import at, text_or_none
from bough.importers.common.json_reader import Line
from bough.importers.common.linked import linked
from bough.importers.common.timestamps import from_iso
from bough.importers.gemini_cli.messages import Record, read_messages, text_of, usage
from bough.model import Json
from bough.model.imported import Item, Skipped


class SessionRecording:
    """One session. What a rewind takes back stays as a branch."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.about: Record = {}
        self.agents: dict[str, tuple[str, str, str]] = {}
        """Of each subagent that was started here: the message, the call, and the tool's name."""
        self.prompt = ""
        self.model: str | None = None
        self._skipped: list[Skipped] = []
        self._records: dict[str, Record] = {}
        """The last version of each message."""
        self._parents: dict[str, str | None] = {}
        self._path: list[str] = []
        """The messages of the current history, by their ids here."""

    @property
    def session(self) -> str:
        return text_or_none(self.about.get("sessionId")) or PurePosixPath(self.name).stem

    @property
    def parent(self) -> str | None:
        """The session whose subagent this is: its files are in a directory of that name."""
        folder = PurePosixPath(self.name).parent.name
        return folder if self.about.get("kind") == "subagent" and folder not in ("", "chats") else None

    @property
    def ended(self) -> int:
        times = [from_iso(record.get("timestamp")) or 0 for record in self._records.values()]
        return max([from_iso(self.about.get("lastUpdated")) or 0, *times])

    @property
    def head(self) -> str | None:
        return self._last(self._path[-1]) if self._path else None

    def add(self, line: Line | Skipped) -> None:
        if isinstance(line, Skipped):
            self._skipped.append(line)
            return
        record = line.value
        if isinstance(target := at(record, "$rewindTo"), str):
            self._path = self._path[: self._path.index(target)] if target in self._path else []
        elif isinstance(changed := at(record, "$set"), dict):
            self._describe(changed)
        elif isinstance(at(record, "id"), str):
            self._put(record)
        elif isinstance(at(record, "sessionId"), str):
            self._describe(record)
        else:
            self._skipped.append(Skipped(line.place, "It is neither a message nor metadata.", record))

    def items(self) -> Iterator[Item]:
        yield from self._skipped
        for id, record in self._records.items():
            parent = self._parents[id]
            is_reply = record.get("type") == "gemini"
            yield from linked(
                id, read_messages(record), self._last(parent) if parent else None, from_iso(record.get("timestamp")),
                model=text_or_none(record.get("model")), provider="google" if is_reply else None, usage=usage(record),
            )  # fmt: skip

    def _describe(self, about: Record) -> None:
        self.about |= {key: value for key, value in about.items() if key != "messages"}
        if isinstance(messages := about.get("messages"), list):
            self._path = []
            for message in messages:
                if isinstance(at(message, "id"), str):
                    self._put(message)
                else:
                    self._skipped.append(Skipped(self.name, "It is no message.", message))

    def _put(self, record: Record) -> None:
        """A message after the current ones, or a later version of one of them."""
        id, before = str(record["id"]), self._path[-1] if self._path else None
        if id not in self._path:
            if id in self._parents and self._parents[id] != before:
                id = f"{id}@{before}"  # The history was rewritten: the same message follows another one.
            self._parents.setdefault(id, before)
            self._path.append(id)
        self._records[id] = record
        self.model = text_or_none(record.get("model")) or self.model
        if record.get("type") == "user" and not self.prompt:
            text = text_of(record.get("displayContent") or record.get("content"))
            self.prompt = "" if text.lstrip().startswith("<session_context>") else text
        for call in record.get("toolCalls") or ():
            if isinstance(agent := at(call, "agentId"), str):
                self.agents[agent] = (id, str(at(call, "id")), str(at(call, "name")))

    def _last(self, id: str) -> str | None:
        """The id of the last message of a record, or of the one before it if it has none."""
        at_id: str | None = id
        while at_id is not None:
            if count := len(read_messages(self._records[at_id])):
                return f"{at_id}#{count - 1}" if count > 1 else at_id
            at_id = self._parents[at_id]
        return None


def is_session(value: Json) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("sessionId", "projectHash"))
