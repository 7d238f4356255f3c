"""The threads of a Codex directory: their order, their titles, and which file continues which."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path, PurePosixPath

from bough.compress import decompressed
from bough.formats.payload import at, count, text_or_none
from bough.importers.codex.items import is_human, read_event, read_item
from bough.importers.codex.rollout import Rollout
from bough.importers.codex.thread_names import INDEX, thread_names
from bough.importers.common.files import Files
from bough.importers.common.json_reader import Line, json_lines
from bough.importers.common.order import eldest, last_time, latest_last
from bough.importers.common.position import Position, Spawn
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.model import Json
from bough.model.imported import Conversation, Item, Skipped

NAME = "codex"
LINES_OF_METADATA = 200
"""Lines that are searched for the first prompt: a fork begins with the metadata of its ancestors."""
LEFT_OUT = {"id", "session_id", "timestamp", "cwd", "instructions", "base_instructions", "dynamic_tools"}
"""Fields of the metadata that are kept elsewhere, and the instructions of Codex itself."""
_CWD = re.compile(r"<cwd>(.*?)</cwd>")


def is_rollout(name: str) -> bool:
    file = PurePosixPath(name).name
    return file.endswith((".jsonl", ".jsonl.zst")) and file not in (INDEX, "history.jsonl")


def rollout_lines(files: Files, name: str) -> Iterator[Line | Skipped]:
    with files.open(name) as stream:
        try:
            yield from json_lines(decompressed(stream) if name.endswith(".zst") else stream, name)
        except ValueError as error:
            yield Skipped(name, f"The rest is damaged: {error}")


class RolloutMetadata:
    """The metadata at the beginning of a rollout."""

    def __init__(self, lines: Iterator[Line | Skipped]) -> None:
        self.meta: dict[str, Json] = {}
        self.root: str | None = None
        self.model: str | None = None
        self.prompt = ""
        self.directory: str | None = None
        for line in islice(lines, LINES_OF_METADATA):
            event = read_event(line.value) if isinstance(line, Line) else None
            if event and event.kind == "session_meta":
                self._read_session(event.payload)
            elif event and event.kind == "turn_context":
                self.model = self.model or text_or_none(event.payload.get("model"))
            elif event and event.kind == "response_item" and self._is_prompt(event.payload):
                break

    @property
    def thread(self) -> str | None:
        return text_or_none(self.meta.get("id"))

    @property
    def origin(self) -> str | None:
        """The thread that this one continues, was forked from or is a subagent of."""
        return _base(self)[0] or text_or_none(self.meta.get("forked_from_id")) or _parent(self.meta)

    def _read_session(self, meta: dict[str, Json]) -> None:
        """A fork's file has its own metadata first, then those of the threads that it replays."""
        self.meta = self.meta or meta
        self.directory = self.directory or text_or_none(meta.get("cwd"))
        self.root = text_or_none(meta.get("forked_from_id")) or text_or_none(meta.get("id")) or self.root

    def _is_prompt(self, item: dict[str, Json]) -> bool:
        message = read_item(item)
        if message.role == "user" and (found := _CWD.search(message.text)):
            self.directory = self.directory or found[1]
        self.prompt = message.text if is_human(message, item) else ""
        return bool(self.prompt)


class RolloutDirectory:
    """Reads the rollouts of a directory, or one of them."""

    def __init__(self, files: Files, path: Path, only: str | None = None) -> None:
        self._files = files
        self._only = only
        self._titles = thread_names(path)
        plain = {name for name in files.names if is_rollout(name)}
        # A rollout may be there in both forms while it is compressed.
        self._rollouts = [name for name in plain if not (name.endswith(".zst") and name[:-4] in plain)]
        self._metadata = self._read_metadata(self._rollouts if only is None else [only])
        bases = [_base(metadata)[0] for metadata in self._metadata.values()]
        self._positions: dict[str, dict[int, Position]] = {thread: {} for thread in bases if thread}
        self._spawned: dict[str, Spawn] = {}

    def conversations(self) -> Iterator[Conversation | Skipped]:
        for name, metadata in self._metadata.items():
            if metadata.thread is None:
                yield Skipped(name, "No line has the id of the thread.")
            elif self._only in (None, name):
                yield self._conversation(name, metadata, metadata.thread)
            else:  # It was not asked for, but its positions are needed by the one that continues it.
                deque(self._conversation(name, metadata, metadata.thread).items, maxlen=0)

    def _read_metadata(self, wanted: list[str]) -> dict[str, RolloutMetadata]:
        """The metadata of some rollouts and of those that they continue."""
        found: dict[str, RolloutMetadata] = {}
        while wanted:
            found |= {name: RolloutMetadata(rollout_lines(self._files, name)) for name in wanted}
            bases = {base for metadata in found.values() if (base := _base(metadata)[0])}
            missing = bases - {metadata.thread for metadata in found.values()}
            wanted = [name for name in self._rollouts if name not in found and any(base in name for base in missing)]
        return {name: found[name] for name in self._in_order(found)}

    def _in_order(self, metadata: dict[str, RolloutMetadata]) -> list[str]:
        """The rollouts in import order; within a family by their first lines, so that a fork follows its origin."""
        oldest_first = sorted(metadata, key=lambda name: (PurePosixPath(name).name, name))
        families = eldest({one.thread: one.origin for one in metadata.values() if one.thread})
        return latest_last(oldest_first, self._last_time, lambda name: families.get(metadata[name].thread or "", name))

    def _last_time(self, name: str) -> int:
        """The time of the last line; 0 for a compressed rollout, which would have to be read in full."""
        if name.endswith(".zst"):
            return 0
        with self._files.open(name) as stream:
            return last_time(stream)

    def _conversation(self, name: str, metadata: RolloutMetadata, thread: str) -> Conversation:
        meta, parent = metadata.meta, _parent(metadata.meta)
        spawn = self._spawned.get(thread)
        return Conversation(
            NAME,
            thread,
            self._items(name, metadata, thread),
            title=self._titles.get(thread) or shortened(metadata.prompt),
            directory=metadata.directory,
            model=metadata.model,
            agent=text_or_none(meta.get("agent_role") or meta.get("agent_type") or meta.get("agent_nickname")),
            parent=parent,
            parent_message=spawn.message_id if spawn and parent else None,
            parent_call=spawn.call_id if spawn and parent else None,
            created_at=from_iso(meta.get("timestamp")),
            extra={NAME: {key: value for key, value in meta.items() if key not in LEFT_OUT and value is not None}},
        )

    def _items(self, name: str, metadata: RolloutMetadata, thread: str) -> Iterator[Item]:
        rollout = Rollout(metadata.root or thread, self._spawned, self._positions.get(thread))
        base, ordinal = _base(metadata)
        if base is not None:
            position = self._position_before(base, ordinal)
            rollout.continue_from(position)
            if position is None:
                yield Skipped(name, f"It continues the thread {base!r}, which is not among these files.")
        yield from rollout.items(rollout_lines(self._files, name))

    def _position_before(self, thread: str, ordinal: int) -> Position | None:
        """The position in a thread before a line, for a file that begins in the middle of the thread."""
        positions = self._positions.get(thread, {})
        before = [number for number in positions if number < ordinal]
        return positions[max(before)] if before else None


def _base(metadata: RolloutMetadata) -> tuple[str | None, int]:
    base = metadata.meta.get("history_base")
    return text_or_none(at(base, "thread_id")), count(base, "end_ordinal_exclusive") or 0


def _parent(meta: dict[str, Json]) -> str | None:
    """The thread that started this one as a subagent."""
    spawn = at(meta.get("source"), "subagent", "thread_spawn")
    return text_or_none(at(spawn, "parent_thread_id")) or text_or_none(meta.get("parent_thread_id"))
