"""Decode one line of a gptme log. Tool calls are part of the assistant's text, and results are system messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from bough.formats.media import FORMATS, kind_of
from bough.formats.payload import at, count, text_or_none, total
from bough.importers.common.files import Files
from bough.importers.common.timestamps import from_iso
from bough.model import ROLES, Block, Json, Media, Message, Other, Text, Usage

FAMILY = "gptme"
KEPT_ELSEWHERE = {"role", "content", "timestamp", "files"}


class MessageReader:
    """Decodes the lines of one conversation, with the files stored in its directory."""

    def __init__(self, files: Files, directory: str) -> None:
        self._files = files
        folder = f"{directory}files/"
        names = (name for name in files.names if name.startswith(folder))
        self._stored = {PurePosixPath(name).stem: name for name in names}

    def read(self, line: dict[str, Json]) -> Message:
        rest = {key: value for key, value in line.items() if key not in KEPT_ELSEWHERE}
        blocks: tuple[Block, ...] = (Text(line["content"]), *self._attached(line))
        return Message(line["role"], blocks, envelope={FAMILY: rest} if rest else None)

    def _attached(self, line: dict[str, Json]) -> Iterator[Block]:
        named = line.get("files")
        for path in named if isinstance(named, list) else ():
            if not isinstance(path, str):
                yield Other("file", {FAMILY: path})
                continue
            mime = FORMATS.get(PurePosixPath(path).suffix.lower()[1:], "")
            name, stored = PurePosixPath(path).name, self._stored.get(str(at(line, "file_hashes", path)))
            if stored:
                with self._files.open(stored) as stream:
                    yield Media(kind_of(mime), mime, data=stream.read(), name=name)
            else:
                yield Media(kind_of(mime), mime, url=path if "://" in path else f"file://{path}", name=name)


def is_message(line: Json) -> bool:
    return isinstance(line, dict) and line.get("role") in ROLES and isinstance(line.get("content"), str)


def written_at(line: dict[str, Json]) -> int | None:
    """The timestamp of a line; local time if it has no offset."""
    stored_at = text_or_none(line.get("timestamp"))
    try:
        moment = datetime.fromisoformat(stored_at) if stored_at else None
        return from_iso(moment.astimezone().isoformat()) if moment else None
    except (ValueError, OverflowError, OSError):
        return None


def usage(metadata: Json) -> Usage | None:
    """The tokens of a reply; older logs have them next to the model."""
    counts = at(metadata, "usage") or metadata
    read, stored_at = count(counts, "cache_read_tokens"), count(counts, "cache_creation_tokens")
    cost = at(metadata, "cost")
    counted = Usage(
        total(count(counts, "input_tokens"), read, stored_at),
        count(counts, "output_tokens"),
        read,
        cost=float(cost) if isinstance(cost, (int, float)) else None,
    )
    return None if counted == Usage() else counted
