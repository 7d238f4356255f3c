"""aider: `.aider.chat.history.md`, Markdown to which every run in a directory appends.

The words of the user are headings (`#### `), notes of aider are quoted (`> `), and the rest is the reply. aider ends
each line of the user with two spaces, which tells it from a heading in a reply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bough.importers.common.files import Files, file_start, open_files
from bough.importers.common.json_reader import decode_text
from bough.importers.common.linked import linked
from bough.importers.common.synthetic_ids import chained
from bough.importers.common.timestamps import from_iso
from bough.importers.common.titles import shortened
from bough.importers.types import Importer
from bough.model import Message, Other, Role, Text, Usage
from bough.model.imported import Conversation, Item, Skipped

NAME = "aider"
HISTORY = ".aider.chat.history.md"
_STARTED = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$")
_MODEL = re.compile(r"^(?:Main model|Model|Models?): (\S+)", re.MULTILINE)
_TOKENS = re.compile(
    r"Tokens: ([\d.,]+k?M?) sent(?:, ([\d.,]+k?M?) cache write)?(?:, ([\d.,]+k?M?) cache hit)?, ([\d.,]+k?M?) received"
)
_COST = re.compile(r"Cost: \$([\d.]+) message")
_SCALES = {"k": 1_000, "M": 1_000_000}


class Passage(NamedTuple):
    """Consecutive lines of one speaker; `note` is aider itself."""

    speaker: str
    text: str


class Aider:
    """Reads the history of a directory, or those below a directory."""

    name = NAME
    title = "aider"

    def recognises(self, path: Path) -> bool:
        if path.is_file():
            return _is_history(file_start(path, 4096))
        with open_files(path) as files:
            return any(PurePosixPath(name).name == HISTORY for name in files.names)

    def read(self, path: Path) -> Iterator[Conversation | Skipped]:
        with open_files(path) as files:
            for name in files.names:
                if path.is_file() or PurePosixPath(name).name == HISTORY:
                    yield from _runs(files, name, (path if path.is_file() else path / name).absolute().parent)

    def default_paths(self) -> list[Path]:
        """Histories are in the directories of projects: that of this directory, and of the home directory."""
        found = dict.fromkeys(folder / HISTORY for folder in (Path.cwd(), Path.home()))
        return [path for path in found if path.is_file()]


def _is_history(start: bytes) -> bool:
    return any(_STARTED.match(line) for line in decode_text(start).splitlines()[:20])


def _runs(files: Files, name: str, directory: Path) -> Iterator[Conversation | Skipped]:
    lines: list[str] = []
    begun: str | None = None
    with files.open(name) as stream:
        for raw in stream:
            line = decode_text(raw).rstrip("\r\n")
            if found := _STARTED.match(line):
                yield from _run(begun, lines, directory)
                begun, lines = found[1], []
            else:
                lines.append(line)
    yield from _run(begun, lines, directory)


def _run(begun: str | None, lines: list[str], directory: Path) -> Iterator[Conversation]:
    """The conversation of one run; none if nothing was said."""
    passages = list(_passages(lines))
    if not any(one.speaker == "user" for one in passages):
        return
    # Runs in different directories may start in the same second.
    id = f"{directory}:{begun or ''}"
    prompt = next(one.text for one in passages if one.speaker == "user")
    models = [found[1] for one in passages if one.speaker == "note" and (found := _MODEL.search(one.text))]
    yield Conversation(
        NAME, id, list(_items(passages, id, _time(begun))), title=shortened(prompt), directory=str(directory),
        model=models[-1].rstrip(",") if models else None, created_at=_time(begun),
    )  # fmt: skip


def _time(text: str | None) -> int | None:
    """The time of a run, which aider writes in local time."""
    if text is None:
        return None
    try:
        return from_iso(datetime.fromisoformat(text).astimezone().isoformat())
    except (ValueError, OverflowError, OSError):
        return None


def _passages(lines: list[str]) -> Iterator[Passage]:
    # Editors and Git may have removed the spaces at the ends of lines; then every such heading is the user's.
    marked = any(_is_marked(line) for line in lines)
    speaker, text, unfinished = "", [""], False
    for line in lines:
        if unfinished:
            now = "note"  # its lines are one note up to the one that ends with two spaces
        elif line.startswith("#### ") and (_is_marked(line) or not marked):
            now, line = "user", line[5:]
        elif line.startswith("> ") and (line.endswith("  ") or speaker != "assistant" or not marked):
            now, line = "note", line[2:]
        elif not line.strip() and speaker != "assistant":
            now = ""  # the blank line before and after a passage
        else:
            now = "assistant"
        unfinished = now == "note" and marked and not line.endswith("  ")
        if now != speaker and (now or speaker == "user"):
            yield from _passage(speaker, text)
            speaker, text = now, []
        if now:
            text.append(line if now == "assistant" else line.rstrip())
    yield from _passage(speaker, text)


def _is_marked(line: str) -> bool:
    return line.startswith("#### ") and line.endswith("  ")


def _passage(speaker: str, lines: list[str]) -> Iterator[Passage]:
    text = "\n".join(lines).strip("\n")
    if speaker and text.strip() and text != "<blank>":
        yield Passage(speaker, text)


def _items(passages: list[Passage], id: str, time: int | None) -> Iterator[Item]:
    parent, model = None, None
    names = chained([list(one) for one in passages], id)
    for number, (one, name) in enumerate(zip(passages, names, strict=True)):
        message = _message(one)
        if one.speaker == "note" and (found := _MODEL.search(one.text)):
            model = found[1].rstrip(",")
        after = passages[number + 1] if number + 1 < len(passages) else None
        usage = _usage(after.text) if after and after.speaker == "note" else None
        # Only the beginning of a run has a time; the messages after it are put just after it.
        yield from linked(name, [message], parent, None if parent else time, model=model, usage=usage)
        parent = name


def _message(one: Passage) -> Message:
    if one.speaker == "note":
        return Message("system", (Other("note", {NAME: one.text}),))
    role: Role = "user" if one.speaker == "user" else "assistant"
    return Message(role, (Text(one.text),))


def _usage(note: str) -> Usage | None:
    """The tokens that aider reports after a reply, rounded as it rounds them."""
    found, cost = _TOKENS.search(note), _COST.search(note)
    if not found:
        return None
    sent, _, cached, received = (_number(text) for text in found.groups())
    return Usage(sent, received, cached, cost=float(cost[1]) if cost else None)


def _number(text: str | None) -> int | None:
    if not text:
        return None
    digits = text.rstrip("kM").replace(",", "")
    try:
        return round(float(digits) * _SCALES.get(text[-1], 1))
    except ValueError:
        return None


IMPORTER: Importer = Aider()
