"""The threads of a Codex directory: which file continues or replays which, and what they are called."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from bough.compress import decompressed
from bough.formats.payload import at, count, text_or_none
from bough.importers.codex.items import is_human, read_event, read_item
from bough.importers.codex.names import INDEX, names
from bough.importers.codex.rollout import Place, Rollout, Spawn
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.order import eldest, last_time, latest_last
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.model import Json
from bough.model.imported import Conversation, Item, Skipped

NAME = "codex"
LINES_OF_HEADING = 200
LEFT_OUT = {"id", "session_id", "timestamp", "cwd", "instructions", "base_instructions", "dynamic_tools"}
"""Of the heading: what is kept elsewhere, and the instructions, which are Codex's own."""
_CWD = re.compile(r"<cwd>(.*?)</cwd>")


def is_rollout(name: str) -> bool:
    file = PurePosixPath(name).name
    return file.endswith((".jsonl", ".jsonl.zst")) and file not in (INDEX, "history.jsonl")


def read_lines(files: Files, name: str) -> Iterator[Line | Skipped]:
    with files.open(name) as stream:
        try:
            yield from json_lines(decompressed(stream) if name.endswith(".zst") else stream, name)
        except ValueError as error:
            yield Skipped(name, f"the rest is damaged: {error}")


class Heading:
    """What the beginning of a rollout says about it."""

    def __init__(self, told: Iterator[Line | Skipped]) -> None:
        self.meta: dict[str, Json] = {}
        self.root: str | None = None
        self.model: str | None = None
        self.prompt = ""
        self.directory: str | None = None
        for line in islice(told, LINES_OF_HEADING):
            event = read_event(line.value) if isinstance(line, Line) else None
            if event and event.kind == "session_meta":
                self._introduce(event.payload)
            elif event and event.kind == "turn_context":
                self.model = self.model or text_or_none(event.payload.get("model"))
            elif event and event.kind == "response_item" and self._is_prompt(event.payload):
                break

    @property
    def thread(self) -> str | None:
        return text_or_none(self.meta.get("id"))

    @property
    def origin(self) -> str | None:
        """The thread that this one continues, was forked from or works for."""
        return _base(self)[0] or text_or_none(self.meta.get("forked_from_id")) or _parent(self.meta)

    def _introduce(self, meta: dict[str, Json]) -> None:
        """A fork's file has its own heading first, and then those of the threads that it replays."""
        self.meta = self.meta or meta
        self.directory = self.directory or text_or_none(meta.get("cwd"))
        self.root = text_or_none(meta.get("forked_from_id")) or text_or_none(meta.get("id")) or self.root

    def _is_prompt(self, item: dict[str, Json]) -> bool:
        message = read_item(item)
        if message.role == "user" and (found := _CWD.search(message.text)):
            self.directory = self.directory or found[1]
        self.prompt = message.text if is_human(message, item) else ""
        return bool(self.prompt)


class Threads:
    """Reads the rollouts of a directory, or one of them."""

    def __init__(self, files: Files, path: Path, only: str | None = None) -> None:
        self._files = files
        self._only = only
        self._names = names(path)
        plain = {name for name in files.names if is_rollout(name)}
        self._rollouts = [name for name in plain if not (name.endswith(".zst") and name[:-4] in plain)]
        self._headings = self._read_headings(self._rollouts if only is None else [only])
        bases = [_base(heading)[0] for heading in self._headings.values()]
        self._stood: dict[str, dict[int, Place]] = {thread: {} for thread in bases if thread}
        self._spawned: dict[str, Spawn] = {}

    def conversations(self) -> Iterator[Conversation | Skipped]:
        for name, heading in self._headings.items():
            if heading.thread is None:
                yield Skipped(name, "no line says which thread this is")
            elif self._only in (None, name):
                yield self._conversation(name, heading, heading.thread)
            else:  # it is here for the one that continues it
                deque(self._conversation(name, heading, heading.thread).items, maxlen=0)

    def _read_headings(self, wanted: list[str]) -> dict[str, Heading]:
        """The headings of some rollouts and of those that they continue."""
        found: dict[str, Heading] = {}
        while wanted:
            found |= {name: Heading(read_lines(self._files, name)) for name in wanted}
            bases = {base for heading in found.values() if (base := _base(heading)[0])}
            missing = bases - {heading.thread for heading in found.values()}
            wanted = [name for name in self._rollouts if name not in found and any(base in name for base in missing)]
        return {name: found[name] for name in self._in_order(found)}

    def _in_order(self, headings: dict[str, Heading]) -> list[str]:
        """The rollouts of a family, which began with one thread, by their beginnings: a fork follows its origin."""
        oldest_first = sorted(headings, key=lambda name: (PurePosixPath(name).name, name))
        families = eldest({one.thread: one.origin for one in headings.values() if one.thread})
        return latest_last(oldest_first, self._last_time, lambda name: families.get(headings[name].thread or "", name))

    def _last_time(self, name: str) -> int:
        """When a thread was last used: known of one that is not compressed."""
        if name.endswith(".zst"):
            return 0
        with self._files.open(name) as stream:
            return last_time(stream)

    def _conversation(self, name: str, heading: Heading, thread: str) -> Conversation:
        meta, parent = heading.meta, _parent(heading.meta)
        spawn = self._spawned.get(thread)
        return Conversation(
            NAME,
            thread,
            self._items(name, heading, thread),
            title=self._names.get(thread) or shortened(heading.prompt),
            directory=heading.directory,
            model=heading.model,
            agent=text_or_none(meta.get("agent_role") or meta.get("agent_type") or meta.get("agent_nickname")),
            parent=parent,
            parent_message=spawn.said if spawn and parent else None,
            parent_call=spawn.call if spawn and parent else None,
            created_at=from_iso(meta.get("timestamp")),
            extra={NAME: {key: words for key, words in meta.items() if key not in LEFT_OUT and words is not None}},
        )

    def _items(self, name: str, heading: Heading, thread: str) -> Iterator[Item]:
        rollout = Rollout(heading.root or thread, self._spawned, self._stood.get(thread))
        base, ordinal = _base(heading)
        if base is not None:
            place = self._stood_at(base, ordinal)
            rollout.continue_from(place)
            if place is None:
                yield Skipped(name, f"begins in the middle of the thread {base!r}, which is not among these files")
        yield from rollout.items(read_lines(self._files, name))

    def _stood_at(self, thread: str, ordinal: int) -> Place | None:
        """Where a thread stood before a line, when a file begins in the middle of it."""
        stood = self._stood.get(thread, {})
        before = [number for number in stood if number < ordinal]
        return stood[max(before)] if before else None


def _base(heading: Heading) -> tuple[str | None, int]:
    base = heading.meta.get("history_base")
    return text_or_none(at(base, "thread_id")), count(base, "end_ordinal_exclusive") or 0


def _parent(meta: dict[str, Json]) -> str | None:
    """The thread that began this one as a subagent."""
    spawn = at(meta.get("source"), "subagent", "thread_spawn")
    return text_or_none(at(spawn, "parent_thread_id")) or text_or_none(meta.get("parent_thread_id"))
