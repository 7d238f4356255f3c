"""One line of a gptme log as a message. Calls of tools are in the text of the assistant, their results are notes."""

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


class Messages:
    """Reads the lines of one conversation, with the files that are stored beside it."""

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


def said_at(line: dict[str, Json]) -> int | None:
    """When a line was written: local time, where it does not say."""
    written = text_or_none(line.get("timestamp"))
    try:
        moment = datetime.fromisoformat(written) if written else None
        return from_iso(moment.astimezone().isoformat()) if moment else None
    except (ValueError, OverflowError, OSError):
        return None


def usage(metadata: Json) -> Usage | None:
    """The tokens of a reply; older logs have them beside the model."""
    counts = at(metadata, "usage") or metadata
    read, written = count(counts, "cache_read_tokens"), count(counts, "cache_creation_tokens")
    cost = at(metadata, "cost")
    counted = Usage(
        total(count(counts, "input_tokens"), read, written),
        count(counts, "output_tokens"),
        read,
        cost=float(cost) if isinstance(cost, (int, float)) else None,
    )
    return None if counted == Usage() else counted
